#include "nn/conv_layer.h"

#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"

#include "nn/parameter.h"
#include "nn/scope.h"

namespace aerogel::nn {
namespace {

/// The bytes of [C_out, 1.., C_in] taken as [C_in, C_out], turned into our [C_out, 1.., C_in].
Tensor reinterpret_pointwise(const Tensor& stored) {
  const std::int64_t c_out = stored.size(0);
  const std::int64_t c_in = stored.size(stored.shape().size() - 1);
  const int swapped[] = {1, 0};
  return stored.contiguous().reshape({c_in, c_out}).permute(swapped).contiguous().reshape(stored.shape());
}

Dims weight_shape(const ConvLayerOptions& options) {
  Dims shape{options.c_out};
  for (std::int64_t extent : options.kernel) shape.push_back(extent);
  shape.push_back(options.c_in);
  return shape;
}

}  // namespace

ConvLayer::ConvLayer(const ConvLayerOptions& options) : options_(options) {
  if (options.c_in < 1 || options.c_out < 1) {
    throw InvalidArgument(fmt::format("[conv_layer] channels must be at least 1, got {} in and {} out",
                                      options.c_in, options.c_out));
  }
  spec_ = KernelSpec::make(options.kind, options.kernel, options.stride, options.padding, options.dilation,
                           options.output_padding, options.sites);
}

SparseTensor ConvLayer::forward(const SparseTensor& in, Context& context) const {
  return forward_with(in, context, {});
}

SparseTensor ConvLayer::forward_with(const SparseTensor& in, Context& context, Epilogue epilogue) const {
  if (!weight_.defined() || (options_.bias && !bias_.defined())) {
    throw InvalidArgument(
        fmt::format("{} has no weights yet: call load_state_dict or init_weights", where(context)));
  }
  if (in.channels() != options_.c_in) {
    throw InvalidArgument(fmt::format("{} expects {} input channels, got features {}", where(context),
                                      options_.c_in, in.features.str()));
  }
  epilogue.bias = bias_;
  return convolve(in, context, epilogue);
}

SparseTensor ConvLayer::convolve(const SparseTensor& in, Context& context, const Epilogue& epilogue) const {
  if (options_.kind == ConvKind::kInverse) {
    const Context::Level& level = level_to_return_to(context, options_.key, options_.kernel);
    const ConvOptions geometry{.stride = level.spec.stride,
                               .padding = level.spec.padding,
                               .dilation = level.spec.dilation,
                               .sites = level.spec.sites};
    return inverse_conv(in, level.fine, weight_, geometry, epilogue, context.exec);
  }
  // A matrix product uses no map, so it neither takes nor disturbs a key (spconv returns before it looks
  // at one).
  if (!spec_.is_pointwise()) remember_level(context, options_.key, in.coordinates, spec_, options_.key_rule);
  ConvOptions geometry{
      .stride = spec_.stride, .padding = spec_.padding, .dilation = spec_.dilation, .sites = spec_.sites};
  switch (options_.kind) {
    case ConvKind::kSubmanifold:
      return subm_conv(in, weight_, {.dilation = spec_.dilation}, epilogue, context.exec);
    case ConvKind::kTransposed:
      geometry.output_padding = spec_.output_padding;
      return transposed_conv(in, weight_, geometry, epilogue, context.exec);
    default:
      return sparse_conv(in, weight_, geometry, epilogue, context.exec);
  }
}

void ConvLayer::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  const bool reinterpret =
      options_.pointwise == PointwiseLayout::kSpconvReinterpreted && spec_.is_pointwise();
  out.push_back({prefix + "weight", weight_shape(options_),
                 [this, reinterpret](const Tensor& value) {
                   stored_ = value.contiguous();
                   weight_ = ConvWeight(reinterpret ? reinterpret_pointwise(stored_) : stored_);
                 },
                 [this] { return stored_; }});
  if (options_.bias) out.push_back(tensor_parameter(prefix + "bias", {options_.c_out}, bias_));
}

}  // namespace aerogel::nn
