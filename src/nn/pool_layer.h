// Window pools, which may record an indice key as strided convolutions do.
#pragma once

#include <string>
#include <vector>

#include "aerogel/nn.h"
#include "aerogel/ops/pooling.h"

#include "nn/levels.h"

namespace aerogel::nn {

enum class PoolOp : std::uint8_t { kMax, kAverage };

struct PoolLayerOptions {
  PoolOp op = PoolOp::kMax;
  PoolSites sites = PoolSites::kRegular;
  MaxIdentity identity = MaxIdentity::kNegativeInfinity;
  Dims kernel;
  Dims stride;   ///< regular
  Dims padding;  ///< regular
  Dims dilation;
  std::string key;
  KeyRule key_rule = KeyRule::kHint;
};

class PoolLayer : public Module {
 public:
  explicit PoolLayer(const PoolLayerOptions& options);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& /*prefix*/, std::vector<Parameter>& /*out*/) override {}

 private:
  PoolLayerOptions options_;
  KernelSpec spec_;
};

}  // namespace aerogel::nn
