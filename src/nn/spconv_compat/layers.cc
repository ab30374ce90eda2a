#include "nn/spconv_compat/layers.h"

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/pooling.h"

#include "nn/sequential.h"
#include "nn/spconv_compat/makers.h"

namespace aerogel::nn::spconv {
namespace {

constexpr struct {
  std::string_view stem;
  ConvKind kind;
} kConvClasses[] = {
    {"SubMConv", ConvKind::kSubmanifold},
    {"SparseConv", ConvKind::kRegular},
    {"SparseConvTranspose", ConvKind::kTransposed},
    {"SparseInverseConv", ConvKind::kInverse},
};

constexpr struct {
  std::string_view stem;
  PoolOp op;
} kPoolClasses[] = {{"SparseMaxPool", PoolOp::kMax}, {"SparseAvgPool", PoolOp::kAverage}};

/// The n of "<stem><n>d" with n = 1 … 4, 0 for the bare stem, −1 for another class.
int ndim_of(std::string_view cls, std::string_view stem) {
  if (cls.substr(0, stem.size()) != stem) return -1;
  const std::string_view rest = cls.substr(stem.size());
  if (rest.empty()) return 0;
  return rest.size() == 2 && rest[0] >= '1' && rest[0] <= '0' + kMaxNdim && rest[1] == 'd' ? rest[0] - '0'
                                                                                           : -1;
}

std::unique_ptr<Module> make_bare_layer(const LayerDescription& layer, const Quirks& quirks) {
  if (layer.cls == "SparseSequential") {
    auto sequence = std::make_unique<Sequential>();
    for (std::size_t i = 0; i < layer.children.size(); ++i) {
      sequence->add(std::to_string(i), make_layer(layer.children[i], quirks));
    }
    return sequence;
  }
  for (const auto& known : kConvClasses) {
    const int ndim = ndim_of(layer.cls, known.stem);
    if (ndim > 0) return make_conv(layer, known.kind, ndim, quirks);
  }
  for (const auto& known : kPoolClasses) {
    const int ndim = ndim_of(layer.cls, known.stem);
    if (ndim >= 0) return make_pool(layer, known.op, ndim, quirks);
  }
  if (auto module = make_torch_layer(layer)) return module;
  throw Unsupported(fmt::format("[spconv] no layer of class '{}'", layer.cls));
}

/// torch fills running statistics that a checkpoint leaves out with their defaults only when told so;
/// recorded layers name none, since they ran with batch statistics.
StateDict with_default_statistics(Module& module, const StateDict& given) {
  StateDict params = given;
  for (const Parameter& parameter : parameters_of(module)) {
    if (parameter.name.rfind("running_", 0) == 0) params.try_emplace(parameter.name, parameter.get());
  }
  return params;
}

}  // namespace

std::vector<Parameter> parameters_of(Module& module) {
  std::vector<Parameter> parameters;
  module.parameters("", parameters);
  return parameters;
}

std::unique_ptr<Module> make_layer(const LayerDescription& layer, const Quirks& quirks) {
  std::unique_ptr<Module> module = make_bare_layer(layer, quirks);
  if (!layer.params.empty()) load_state_dict(*module, with_default_statistics(*module, layer.params));
  return module;
}

SparseTensor apply_table(std::string_view cls, std::span<const SparseTensor> branches,
                         const Context& context) {
  if (branches.empty()) throw InvalidArgument(fmt::format("[{}] needs at least one branch", cls));
  if (cls == "JoinTable") return concat(branches, context.exec);
  if (cls != "AddTable") throw Unsupported(fmt::format("[spconv] no table of class '{}'", cls));
  SparseTensor sum = branches[0];
  for (const SparseTensor& branch : branches.subspan(1)) sum = add(sum, branch, context.exec);
  return sum;
}

Tensor global_pool(std::string_view cls, const SparseTensor& in, const Context& context,
                   const Quirks& quirks) {
  if (cls == "SparseGlobalMaxPool") return global_max_pool(in, context.exec);
  if (cls != "SparseGlobalAvgPool")
    throw Unsupported(fmt::format("[spconv] no global pool of class '{}'", cls));
  Tensor mean = global_avg_pool(in, context.exec);
  if (!quirks.global_avg_channel_zero) return mean;
  Tensor first = Tensor::empty({mean.size(0)}, DType::kF32, context.exec);
  if (context.exec.dry_run) return first;
  for (std::int64_t item = 0; item < mean.size(0); ++item) {
    first.mutable_data<float>()[item] = mean.data<float>()[item * mean.size(1)];
  }
  return first;
}

}  // namespace aerogel::nn::spconv
