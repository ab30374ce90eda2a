#include "nn/decoder_blocks.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/norm.h"
#include "aerogel/ops/sites.h"

#include "nn/parameter.h"
#include "nn/scope.h"

namespace aerogel::nn {
namespace {

constexpr double kLayerNormEps = 1e-6;  // TRELLIS.2's LayerNorm32
constexpr double kGroupNormEps = 1e-5;  // torch's default
constexpr std::int64_t kNormGroups = 32;
// 16,384 rows of 4 · 1024 f32 are 256 MiB: the most that the wide middle of an MLP takes.
constexpr std::int64_t kChunkRows = 16384;

ConvLayerOptions submanifold(std::int64_t c_in, std::int64_t c_out, std::int64_t side = 3) {
  ConvLayerOptions options;
  options.c_in = c_in;
  options.c_out = c_out;
  options.kernel = Dims::filled(3, side);
  options.bias = true;
  return options;
}

SparseTensor scoped(const Module& layer, const char* name, const SparseTensor& in, Context& context) {
  const Scope scope(context, name);
  return layer.forward(in, context);
}

void require_channels(const SparseTensor& in, std::int64_t channels, const Context& context) {
  if (in.channels() != channels) {
    throw InvalidArgument(
        fmt::format("{} expects {} channels, got features {}", where(context), channels, in.features.str()));
  }
}

void require_weights(bool there, const Context& context) {
  if (!there)
    throw InvalidArgument(
        fmt::format("{} has no weights yet: call load_state_dict or init_weights", where(context)));
}

/// bool [N, K]: which logits are positive. Which sites come next depends on them, so a dry run cannot go on.
Tensor positive(const Tensor& logits, const Context& context) {
  if (!logits.has_data()) {
    throw InvalidArgument(
        fmt::format("{} decides from its features which sites there are: its memory cannot be planned ahead",
                    where(context)));
  }
  Tensor mask = Tensor::empty(logits.shape(), DType::kBool);
  const auto* value = logits.data<float>();
  auto* keep = static_cast<bool*>(mask.raw());
  for (std::int64_t i = 0; i < logits.numel(); ++i) keep[i] = value[i] > 0;
  return mask;
}

}  // namespace

LayerNormLayer::LayerNormLayer(std::int64_t channels, double eps, bool affine)
    : channels_(channels), eps_(eps), affine_(affine) {}

SparseTensor LayerNormLayer::forward(const SparseTensor& in, Context& context) const {
  require_weights(!affine_ || (weight_.defined() && bias_.defined()), context);
  require_channels(in, channels_, context);
  return layer_norm(in, {.weight = weight_, .bias = bias_, .eps = eps_}, context.exec);
}

void LayerNormLayer::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  if (!affine_) return;
  out.push_back(tensor_parameter(prefix + "weight", {channels_}, weight_));
  out.push_back(tensor_parameter(prefix + "bias", {channels_}, bias_));
}

GroupNormLayer::GroupNormLayer(std::int64_t channels, std::int64_t groups, double eps)
    : channels_(channels), groups_(groups), eps_(eps) {}

SparseTensor GroupNormLayer::forward(const SparseTensor& in, Context& context) const {
  require_weights(weight_.defined() && bias_.defined(), context);
  require_channels(in, channels_, context);
  return group_norm(in, groups_, {.weight = weight_, .bias = bias_, .eps = eps_}, context.exec);
}

void GroupNormLayer::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  out.push_back(tensor_parameter(prefix + "weight", {channels_}, weight_));
  out.push_back(tensor_parameter(prefix + "bias", {channels_}, bias_));
}

ConvNextBlock::ConvNextBlock(std::int64_t channels)
    : conv_(submanifold(channels, channels)),
      norm_(channels, kLayerNormEps, true),
      widen_(channels, 4 * channels, true),
      narrow_(4 * channels, channels, true) {}

SparseTensor ConvNextBlock::forward(const SparseTensor& in, Context& context) const {
  const SparseTensor normed = scoped(norm_, "norm", scoped(conv_, "conv", in, context), context);
  const Tensor out = Tensor::empty(in.features.shape(), DType::kF32, context.exec);
  for (std::int64_t begin = 0; begin < in.sites(); begin += kChunkRows) {
    const std::int64_t end = std::min(in.sites(), begin + kChunkRows);
    Tensor wide;
    {
      const Scope scope(context, "mlp.0");
      wide = widen_.apply(normed.features.slice_rows(begin, end), context, {.activation = Activation::kSilu});
    }
    const Scope scope(context, "mlp.2");
    const Tensor rows = narrow_.apply(wide, context, {.residual = in.features.slice_rows(begin, end)});
    if (context.exec.dry_run) continue;
    std::memcpy(out.slice_rows(begin, end).raw(), rows.raw(), static_cast<std::size_t>(rows.nbytes()));
  }
  return in.with_features(out);
}

void ConvNextBlock::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  conv_.parameters(prefix + "conv.", out);
  norm_.parameters(prefix + "norm.", out);
  widen_.parameters(prefix + "mlp.0.", out);
  narrow_.parameters(prefix + "mlp.2.", out);
}

ChannelToSpaceUpBlock::ChannelToSpaceUpBlock(std::int64_t c_in, std::int64_t c_out)
    : norm1_(c_in, kLayerNormEps, true),
      conv1_(submanifold(c_in, 8 * c_out)),
      to_subdiv_(c_in, 8, true),
      norm2_(c_out, kLayerNormEps, false),
      conv2_(submanifold(c_out, c_out)) {
  const std::int64_t share = c_in / 8;
  if (share * 8 != c_in || c_out % share != 0) {
    throw InvalidArgument(fmt::format(
        "[channel_to_space_up_block] {} channels in and {} out: an eighth must divide both", c_in, c_out));
  }
  const Tensor ones = Tensor::zeros({c_out, share}, DType::kF32);
  for (std::int64_t j = 0; j < c_out; ++j) ones.mutable_data<float>()[j * share + j / (c_out / share)] = 1;
  repeat_ = ConvWeight(ones);
}

SparseTensor ChannelToSpaceUpBlock::forward(const SparseTensor& in, Context& context) const {
  const Tensor keep = positive(scoped(to_subdiv_, "to_subdiv", in, context).features, context);
  SparseTensor fine;
  {
    const SparseTensor normed = silu(scoped(norm1_, "norm1", in, context), context.exec);
    fine = channel_to_space(scoped(conv1_, "conv1", normed, context), {}, keep, context.exec);
  }
  SparseTensor past = channel_to_space_onto(in, fine.coordinates, {}, context.exec);
  past = past.with_features(linear(past.features, repeat_, {}, context.exec));
  fine = silu(scoped(norm2_, "norm2", fine, context), context.exec);
  const Scope scope(context, "conv2");
  return conv2_.forward_with(fine, context, {.residual = past.features});
}

void ChannelToSpaceUpBlock::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  norm1_.parameters(prefix + "norm1.", out);
  conv1_.parameters(prefix + "conv1.", out);
  conv2_.parameters(prefix + "conv2.", out);
  to_subdiv_.parameters(prefix + "to_subdiv.", out);
}

SubdivideUpBlock::SubdivideUpBlock(std::int64_t c_in, std::int64_t c_out)
    : norm_in_(c_in, kNormGroups, kGroupNormEps),
      conv1_(submanifold(c_in, c_out)),
      norm_middle_(c_out, kNormGroups, kGroupNormEps),
      conv2_(submanifold(c_out, c_out)),
      occupancy_(c_out, 1, true) {
  if (c_in != c_out) skip_.emplace(submanifold(c_in, c_out, 1));
}

SparseTensor SubdivideUpBlock::forward(const SparseTensor& in, Context& context) const {
  SparseTensor x;
  {
    const Scope scope(context, "upsample");
    const SparseTensor fine = subdivide(in, {}, {}, context.exec);
    x = subdivide(silu(scoped(norm_in_, "act_layers.0", in, context), context.exec), {}, {}, context.exec);
    // Both stand on children of one set of sites; one coordinate set lets them share their maps.
    x = SparseTensor{x.features, fine.coordinates};
    x = silu(scoped(norm_middle_, "out_layers.1", scoped(conv1_, "out_layers.0", x, context), context),
             context.exec);
    const Tensor past = skip_ ? scoped(*skip_, "skip_connection", fine, context).features : fine.features;
    const Scope last(context, "out_layers.3");
    x = conv2_.forward_with(x, context, {.residual = past});
  }
  const Tensor logits = scoped(occupancy_, "occupancy", x, context).features;
  return prune(x, positive(logits, context).reshape({x.sites()}), context.exec);
}

void SubdivideUpBlock::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  norm_in_.parameters(prefix + "upsample.act_layers.0.", out);
  conv1_.parameters(prefix + "upsample.out_layers.0.", out);
  norm_middle_.parameters(prefix + "upsample.out_layers.1.", out);
  conv2_.parameters(prefix + "upsample.out_layers.3.", out);
  if (skip_) skip_->parameters(prefix + "upsample.skip_connection.", out);
  occupancy_.parameters(prefix + "occupancy.", out);
}

}  // namespace aerogel::nn
