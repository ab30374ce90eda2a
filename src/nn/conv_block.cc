#include "nn/conv_block.h"

#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/scope.h"

namespace aerogel::nn {
namespace {

/// activation(norm(conv(in)) + residual): one op at inference, four while training.
SparseTensor convolve(const ConvLayer& conv, const NormLayer& norm, const BlockNames& names,
                      const SparseTensor& in, Context& context, Activation activation,
                      const Tensor& residual = {}) {
  if (!context.training) {
    const Scope scope(context, names.conv);
    return conv.forward_with(in, context,
                             {.bias = {},
                              .scale = norm.folded().scale,
                              .shift = norm.folded().shift,
                              .residual = residual,
                              .activation = activation});
  }
  SparseTensor x;
  {
    const Scope scope(context, names.conv);
    x = conv.forward(in, context);
  }
  const Scope scope(context, names.norm);
  x = norm.forward(x, context);
  if (!residual.defined() && activation == Activation::kNone) return x;
  return x.with_features(affine(
      x.features, {.scale = {}, .shift = {}, .residual = residual, .activation = activation}, context.exec));
}

}  // namespace

ConvBlock::ConvBlock(const ConvLayerOptions& conv, double norm_eps, Tail tail, BlockNames names)
    : conv_(conv), norm_(conv.c_out, norm_eps), tail_(tail), names_(std::move(names)) {}

SparseTensor ConvBlock::forward(const SparseTensor& in, Context& context) const {
  if (tail_ == Tail::kNone) {
    const Scope scope(context, names_.conv);
    return conv_.forward(in, context);
  }
  if (tail_ == Tail::kNormRelu) return convolve(conv_, norm_, names_, in, context, Activation::kRelu);
  SparseTensor x;
  {
    const Scope scope(context, names_.conv);
    x = conv_.forward_with(in, context, {.activation = Activation::kLeakyRelu});
  }
  const Scope scope(context, names_.norm);
  return norm_.forward(x, context);
}

void ConvBlock::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  conv_.parameters(prefix + names_.conv + ".", out);
  if (tail_ != Tail::kNone) norm_.parameters(prefix + names_.norm + ".", out);
}

ResidualBlock::Part ResidualBlock::make_part(const ConvLayerOptions& options, double norm_eps,
                                             const BlockNames& names) {
  return {ConvLayer(options), NormLayer(options.c_out, norm_eps), names};
}

ResidualBlock::ResidualBlock(const ConvLayerOptions& conv, double norm_eps, const ResidualNames& names)
    : first_(make_part(conv, norm_eps, names.first)),
      second_(make_part(
          [&] {
            ConvLayerOptions options = conv;
            options.c_in = conv.c_out;
            return options;
          }(),
          norm_eps, names.second)) {
  if (conv.kind != ConvKind::kSubmanifold) {
    throw InvalidArgument(
        fmt::format("[residual_block] needs a submanifold kernel, got {}", conv_kind_name(conv.kind)));
  }
  if (conv.c_in == conv.c_out) return;
  ConvLayerOptions pointwise = conv;
  pointwise.kernel = Dims::filled(conv.kernel.size(), 1);
  pointwise.padding = {};
  pointwise.dilation = {};
  projection_.emplace(make_part(pointwise, norm_eps, names.projection));
}

SparseTensor ResidualBlock::run(const Part& part, const SparseTensor& in, Context& context,
                                Activation activation, const Tensor& residual) {
  return convolve(part.conv, part.norm, part.names, in, context, activation, residual);
}

SparseTensor ResidualBlock::forward(const SparseTensor& in, Context& context) const {
  const SparseTensor middle = run(first_, in, context, Activation::kRelu);
  const Tensor past = projection_ ? run(*projection_, in, context, Activation::kNone).features : in.features;
  return run(second_, middle, context, Activation::kRelu, past);
}

void ResidualBlock::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  for (Part* part : {&first_, &second_, projection_ ? &*projection_ : nullptr}) {
    if (!part) continue;
    part->conv.parameters(prefix + part->names.conv + ".", out);
    part->norm.parameters(prefix + part->names.norm + ".", out);
  }
}

}  // namespace aerogel::nn
