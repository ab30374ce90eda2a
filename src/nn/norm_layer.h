// Batch norm over active sites.
#pragma once

#include <string>
#include <vector>

#include "aerogel/nn.h"
#include "aerogel/ops/elementwise.h"

namespace aerogel::nn {

/// Starts as the identity, as torch's does: weight 1, bias 0, running mean 0, running variance 1.
class NormLayer : public Module {
 public:
  NormLayer(std::int64_t channels, double eps);

  /// The running statistics, or those of this call when context.training.
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

  /// Inference batch norm as scale and shift, folded again whenever a parameter is set.
  const FoldedNorm& folded() const noexcept { return folded_; }

 private:
  std::int64_t channels_;
  BatchNorm norm_;
  FoldedNorm folded_;
};

}  // namespace aerogel::nn
