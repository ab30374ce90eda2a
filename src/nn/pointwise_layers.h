// Layers that treat each row by itself.
#pragma once

#include <string>
#include <vector>

#include "aerogel/nn.h"

namespace aerogel::nn {

class ReluLayer : public Module {
 public:
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& /*prefix*/, std::vector<Parameter>& /*out*/) override {}
};

/// out = in · weightᵀ + bias;  weight [C_out, C_in], bias [C_out].
class LinearLayer : public Module {
 public:
  LinearLayer(std::int64_t c_in, std::int64_t c_out, bool bias);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  /// rows [N, C_in] → [N, C_out] with more behind the sums; `epilogue.bias` is filled from this layer's own
  /// bias.
  Tensor apply(const Tensor& rows, Context& context, Epilogue epilogue) const;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  std::int64_t c_in_;
  std::int64_t c_out_;
  bool has_bias_;
  ConvWeight weight_;
  Tensor bias_;
};

}  // namespace aerogel::nn
