#include "nn/conv_block.h"

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/scope.h"

namespace aerogel::nn {
namespace {

Epilogue norm_and_relu(const NormLayer& norm, const Tensor& residual = {}) {
  Epilogue epilogue;
  epilogue.scale = norm.folded().scale;
  epilogue.shift = norm.folded().shift;
  epilogue.residual = residual;
  epilogue.activation = Activation::kRelu;
  return epilogue;
}

ConvLayerOptions with_bias(ConvLayerOptions options) {
  if (options.kind != ConvKind::kSubmanifold || options.c_in != options.c_out) {
    throw InvalidArgument(
        fmt::format("[residual_block] needs a submanifold kernel and equal channels, got {} with {} in "
                    "and {} out",
                    conv_kind_name(options.kind), options.c_in, options.c_out));
  }
  options.bias = true;
  return options;
}

SparseTensor scoped(const Module& layer, const char* name, const SparseTensor& in, Context& context) {
  const Scope scope(context, name);
  return layer.forward(in, context);
}

SparseTensor scoped_relu(const char* name, const SparseTensor& in, Context& context) {
  const Scope scope(context, name);
  return relu(in, context.exec);
}

}  // namespace

SparseTensor ConvBlock::forward(const SparseTensor& in, Context& context) const {
  if (context.training) {
    const SparseTensor normed = scoped(norm_, "1", scoped(conv_, "0", in, context), context);
    return scoped_relu("2", normed, context);
  }
  const Scope scope(context, "0");
  return conv_.forward_with(in, context, norm_and_relu(norm_));
}

void ConvBlock::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  conv_.parameters(prefix + "0.", out);
  norm_.parameters(prefix + "1.", out);
}

ResidualBlock::ResidualBlock(const ConvLayerOptions& conv, double norm_eps)
    : conv1_(with_bias(conv)),
      norm1_(conv.c_out, norm_eps),
      conv2_(with_bias(conv)),
      norm2_(conv.c_out, norm_eps) {}

SparseTensor ResidualBlock::forward(const SparseTensor& in, Context& context) const {
  if (context.training) return forward_unfused(in, context);
  SparseTensor middle;
  {
    const Scope scope(context, "conv1");
    middle = conv1_.forward_with(in, context, norm_and_relu(norm1_));
  }
  const Scope scope(context, "conv2");
  return conv2_.forward_with(middle, context, norm_and_relu(norm2_, in.features));
}

SparseTensor ResidualBlock::forward_unfused(const SparseTensor& in, Context& context) const {
  SparseTensor x = scoped(norm1_, "bn1", scoped(conv1_, "conv1", in, context), context);
  x = scoped_relu("relu", x, context);
  x = scoped(norm2_, "bn2", scoped(conv2_, "conv2", x, context), context);
  {
    const Scope scope(context, "add");
    x = add(x, in, context.exec);
  }
  return scoped_relu("relu", x, context);
}

void ResidualBlock::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  conv1_.parameters(prefix + "conv1.", out);
  norm1_.parameters(prefix + "bn1.", out);
  conv2_.parameters(prefix + "conv2.", out);
  norm2_.parameters(prefix + "bn2.", out);
}

}  // namespace aerogel::nn
