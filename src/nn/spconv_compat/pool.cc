// SparseMaxPool and SparseAvgPool. The average divides by the number of active inputs in spconv as it does
// here.
#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/spconv_compat/makers.h"

namespace aerogel::nn::spconv {

std::unique_ptr<Module> make_pool(const LayerDescription& layer, PoolOp op, int ndim, const Quirks& quirks) {
  if (ndim == 0) {
    const std::int64_t given = Arguments(layer, 1).required_int("ndim");
    if (given < 1 || given > kMaxNdim) {
      throw InvalidArgument(fmt::format("[{}] ndim must be 1 to {}, got {}", layer.cls, kMaxNdim, given));
    }
    ndim = static_cast<int>(given);
  }
  Arguments arguments(layer, ndim);
  arguments.ignore("ndim");
  for (const char* name : {"algo", "name", "record_voxel_count"}) arguments.ignore(name);
  PoolLayerOptions options;
  options.op = op;
  options.kernel = arguments.per_axis("kernel_size");
  options.stride = arguments.per_axis("stride");
  options.padding = arguments.per_axis("padding");
  options.dilation = arguments.per_axis("dilation");
  options.key = arguments.text("indice_key");
  const bool subm = arguments.boolean("subm", false);
  arguments.refuse_rest();
  if (options.kernel.empty()) throw InvalidArgument(fmt::format("[{}] needs a kernel_size", layer.cls));
  if (options.stride.empty()) options.stride = options.kernel;  // as spconv does for stride = None

  if (subm) {
    options.sites = PoolSites::kSubmanifold;
    if (quirks.subm_ignores_stride_and_padding) options.stride = options.padding = {};
  }
  if (quirks.max_pool_from_zero) options.identity = MaxIdentity::kZero;
  options.key_rule = quirks.indice_key_must_agree ? KeyRule::kMustAgree : KeyRule::kHint;
  return std::make_unique<PoolLayer>(options);
}

}  // namespace aerogel::nn::spconv
