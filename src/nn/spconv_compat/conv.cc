// SubMConv, SparseConv, SparseConvTranspose, SparseInverseConv.
#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/conv_layer.h"
#include "nn/spconv_compat/crop.h"
#include "nn/spconv_compat/makers.h"

namespace aerogel::nn::spconv {

std::unique_ptr<Module> make_conv(const LayerDescription& layer, ConvKind kind, int ndim,
                                  const Quirks& quirks) {
  Arguments arguments(layer, ndim);
  ConvLayerOptions options;
  options.kind = kind;
  options.c_in = arguments.required_int("in_channels");
  options.c_out = arguments.required_int("out_channels");
  options.kernel = arguments.per_axis("kernel_size");
  if (options.kernel.empty()) options.kernel = Dims::filled(ndim, 3);
  if (kind != ConvKind::kInverse) {
    options.stride = arguments.per_axis("stride");
    options.padding = arguments.per_axis("padding");
    options.dilation = arguments.per_axis("dilation");
  }
  if (kind == ConvKind::kTransposed) options.output_padding = arguments.per_axis("output_padding");
  options.bias = arguments.boolean("bias", true);
  options.key = arguments.text("indice_key");
  const auto groups = static_cast<std::int64_t>(arguments.number("groups", 1));
  for (const char* name : {"algo", "name", "fp32_accum", "large_kernel_fast_algo"}) arguments.ignore(name);
  arguments.refuse_rest();

  if (groups != 1) throw Unsupported(fmt::format("[{}] groups must be 1, got {}", layer.cls, groups));
  if (kind == ConvKind::kInverse && options.key.empty()) {
    throw InvalidArgument(fmt::format("[{}] needs an indice_key", layer.cls));
  }
  if (kind == ConvKind::kSubmanifold && quirks.subm_ignores_stride_and_padding) {
    options.stride = {};
    options.padding = {};
  }
  options.key_rule = quirks.indice_key_must_agree ? KeyRule::kMustAgree : KeyRule::kHint;
  if (quirks.pointwise_reinterpreted) options.pointwise = PointwiseLayout::kSpconvReinterpreted;

  auto conv = std::make_unique<ConvLayer>(options);
  if (kind != ConvKind::kTransposed || !quirks.transposed_extent_without_dilation ||
      options.dilation.empty() || options.dilation == Dims::filled(ndim, 1)) {
    return conv;
  }
  Dims excess = options.dilation;  // our extent minus spconv's: (dilation − 1)·(kernel − 1)
  for (int axis = 0; axis < ndim; ++axis) excess[axis] = (excess[axis] - 1) * (options.kernel[axis] - 1);
  return std::make_unique<CropLayer>(std::move(conv), excess);
}

}  // namespace aerogel::nn::spconv
