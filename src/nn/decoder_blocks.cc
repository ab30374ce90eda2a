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

/// bool of the logits' shape: which are positive. Which sites come next depends on them, so a dry run takes
/// them from an earlier pass.
Tensor decide(const Tensor& logits, Context& context) {
  if (context.exec.dry_run) {
    if (context.next_decision == context.decisions.size()) {
      throw InvalidArgument(fmt::format(
          "{} decides from its features which sites there are: a dry run needs the decisions of a "
          "pass (Context::decisions)",
          where(context)));
    }
    return context.decisions[context.next_decision++];
  }
  Tensor mask = Tensor::empty(logits.shape(), DType::kBool);
  const auto* value = logits.data<float>();
  auto* keep = static_cast<bool*>(mask.raw());
  for (std::int64_t i = 0; i < logits.numel(); ++i) keep[i] = value[i] > 0;
  context.decisions.push_back(mask);
  return mask;
}

void require_room(std::int64_t before, std::int64_t after, const Context& context) {
  if (context.max_sites <= 0 || after <= context.max_sites) return;
  throw InvalidArgument(fmt::format("{} makes {} sites of {}, over the bound of {} (Context::max_sites)",
                                    where(context), after, before, context.max_sites));
}

/// Calls run(begin, end) for runs of kChunkRows rows, each told by its number in the records of its ops.
template <class Run>
void by_chunks(std::int64_t rows, Context& context, const Run& run) {
  const std::int64_t before = context.exec.chunk;
  for (std::int64_t begin = 0; begin < rows; begin += kChunkRows) {
    context.exec.chunk = begin / kChunkRows;
    run(begin, std::min(rows, begin + kChunkRows));
  }
  context.exec.chunk = before;
}

/// rows [begin, begin + R) of `all` = part [R, C].
void put_rows(const Tensor& all, std::int64_t begin, const Tensor& part, const Context& context) {
  if (context.exec.dry_run) return;
  std::memcpy(all.slice_rows(begin, begin + part.size(0)).raw(), part.raw(),
              static_cast<std::size_t>(part.nbytes()));
}

/// silu(x) in the place of x, which nobody else holds.
void silu_in_place(const SparseTensor& x, Context& context) {
  by_chunks(x.sites(), context, [&](std::int64_t begin, std::int64_t end) {
    put_rows(x.features, begin, silu(x.features.slice_rows(begin, end), context.exec), context);
  });
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
  SparseTensor out = scoped(conv_, "conv", in, context);
  out = scoped(norm_, "norm", out, context);
  by_chunks(in.sites(), context, [&](std::int64_t begin, std::int64_t end) {
    Tensor wide;
    {
      const Scope scope(context, "mlp.0");
      wide = widen_.apply(out.features.slice_rows(begin, end), context, {.activation = Activation::kSilu});
    }
    const Scope scope(context, "mlp.2");
    const Tensor rows = narrow_.apply(wide, context, {.residual = in.features.slice_rows(begin, end)});
    put_rows(out.features, begin, rows, context);
  });
  return out;
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
  const Tensor keep = decide(scoped(to_subdiv_, "to_subdiv", in, context).features, context);
  const bool* kept = keep.data<bool>();
  require_room(in.sites(), std::count(kept, kept + keep.numel(), true), context);
  SparseTensor out = scoped(norm1_, "norm1", in, context);
  silu_in_place(out, context);
  out = scoped(conv1_, "conv1", out, context);
  out = channel_to_space(out, {}, keep, context.exec);
  out = scoped(norm2_, "norm2", out, context);
  silu_in_place(out, context);
  out = scoped(conv2_, "conv2", out, context);
  const SparseTensor past = channel_to_space_onto(in, out.coordinates, {}, context.exec);
  by_chunks(out.sites(), context, [&](std::int64_t begin, std::int64_t end) {
    const Epilogue sum{.residual = out.features.slice_rows(begin, end)};
    put_rows(out.features, begin, linear(past.features.slice_rows(begin, end), repeat_, sum, context.exec),
             context);
  });
  return out;
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
  constexpr std::int64_t kChildren = 8;
  require_room(in.sites(), kChildren * in.sites(), context);
  SparseTensor x;
  {
    const Scope scope(context, "upsample");
    // The skip connection treats each row by itself, so the parents' rows are enough.
    const Tensor past = skip_ ? scoped(*skip_, "skip_connection", in, context).features : in.features;
    x = scoped(norm_in_, "act_layers.0", in, context);
    silu_in_place(x, context);
    x = subdivide(x, {}, {}, context.exec);
    x = scoped(conv1_, "out_layers.0", x, context);
    x = scoped(norm_middle_, "out_layers.1", x, context);
    silu_in_place(x, context);
    x = scoped(conv2_, "out_layers.3", x, context);
    // Children of one set of sites in one order: row i of both is the same site.
    const SparseTensor fine = subdivide(in.with_features(past), {}, {}, context.exec);
    by_chunks(x.sites(), context, [&](std::int64_t begin, std::int64_t end) {
      const Affine sum{.residual = fine.features.slice_rows(begin, end)};
      put_rows(x.features, begin, affine(x.features.slice_rows(begin, end), sum, context.exec), context);
    });
  }
  const Tensor logits = scoped(occupancy_, "occupancy", x, context).features;
  return prune(x, decide(logits, context).reshape({x.sites()}), context.exec);
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
