// One convolution with its weights: submanifold, regular, transposed or inverse.
#pragma once

#include <string>
#include <vector>

#include "aerogel/nn.h"

#include "nn/levels.h"

namespace aerogel::nn {

/// How a 1×1×1 layer reads its [C_out, 1, 1, 1, C_in] buffer.
enum class PointwiseLayout : std::uint8_t {
  kCanonical,
  /// spconv multiplies by the same bytes taken as [C_in, C_out]; its checkpoints were trained so.
  kSpconvReinterpreted,
};

struct ConvLayerOptions {
  ConvKind kind = ConvKind::kSubmanifold;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  Dims kernel;
  Dims stride;                          ///< regular and transposed
  Dims padding;                         ///< regular and transposed
  Dims dilation;                        ///< not inverse
  Dims output_padding;                  ///< transposed
  SiteRule sites = SiteRule::kReached;  ///< regular and transposed
  bool bias = false;
  std::string key;  ///< recorded by every kind but inverse, which returns to it
  KeyRule key_rule = KeyRule::kHint;
  PointwiseLayout pointwise = PointwiseLayout::kCanonical;
};

class ConvLayer : public Module {
 public:
  /// throws InvalidArgument for a geometry that no input could have
  explicit ConvLayer(const ConvLayerOptions& options);

  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  /// As forward with more behind it; `epilogue.bias` is filled from this layer's own bias.
  SparseTensor forward_with(const SparseTensor& in, Context& context, Epilogue epilogue) const;

  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  SparseTensor convolve(const SparseTensor& in, Context& context, const Epilogue& epilogue) const;

  ConvLayerOptions options_;
  KernelSpec spec_;
  Tensor stored_;      // [C_out, k.., C_in] as the checkpoint has it
  ConvWeight weight_;  // what is multiplied by
  Tensor bias_;        // [C_out]
};

}  // namespace aerogel::nn
