#include "nn/pool_layer.h"

namespace aerogel::nn {

PoolLayer::PoolLayer(const PoolLayerOptions& options) : options_(options) {
  const ConvKind kind = options.sites == PoolSites::kRegular ? ConvKind::kRegular : ConvKind::kSubmanifold;
  spec_ = KernelSpec::make(kind, options.kernel, options.stride, options.padding, options.dilation);
}

SparseTensor PoolLayer::forward(const SparseTensor& in, Context& context) const {
  remember_level(context, options_.key, in.coordinates, spec_, options_.key_rule);
  const ConvOptions geometry = options_.sites == PoolSites::kRegular
                                   ? ConvOptions{spec_.stride, spec_.padding, spec_.dilation, {}}
                                   : ConvOptions{{}, {}, spec_.dilation, {}};
  if (options_.op == PoolOp::kMax) {
    return max_pool(in, options_.kernel, geometry, options_.sites, options_.identity, context.exec);
  }
  return avg_pool(in, options_.kernel, geometry, options_.sites, context.exec);
}

}  // namespace aerogel::nn
