// Decoder blocks against the same arithmetic written with the verbs, one op at a time.
#include "nn/decoder_blocks.h"

#include <cstring>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/norm.h"
#include "aerogel/ops/sites.h"

#include "unit/nn/scene.h"

namespace aerogel::nn {
namespace {

SparseTensor conv(const SparseTensor& in, const StateDict& state, const std::string& name) {
  return subm_conv(in, state.at(name + ".weight"), {}, {.bias = state.at(name + ".bias")});
}

Tensor mask_of(const Tensor& logits) {
  const Tensor mask = Tensor::empty(logits.shape(), DType::kBool);
  for (std::int64_t i = 0; i < logits.numel(); ++i)
    static_cast<bool*>(mask.raw())[i] = logits.data<float>()[i] > 0;
  return mask;
}

TEST(ConvNextBlock, EqualsItsFormula) {
  ConvNextBlock block(16);
  init_weights(block, 2);
  const StateDict state = state_dict(block);
  const SparseTensor in = scene(300, 16, {9, 9, 9});
  const SparseTensor normed =
      layer_norm(conv(in, state, "conv"),
                 {.weight = state.at("norm.weight"), .bias = state.at("norm.bias"), .eps = 1e-6});
  const Tensor wide = linear(normed.features, state.at("mlp.0.weight"),
                             {.bias = state.at("mlp.0.bias"), .activation = Activation::kSilu});
  const Tensor expected =
      linear(wide, state.at("mlp.2.weight"), {.bias = state.at("mlp.2.bias"), .residual = in.features});
  Context context;
  EXPECT_LT(relative_l2(block.forward(in, context).features, expected), 1e-6);
}

TEST(ConvNextBlock, ManyChunksOfRows) {
  ConvNextBlock block(2);
  init_weights(block, 3);
  const SparseTensor in = scene(40000, 2, {50, 60, 70});
  ASSERT_GT(in.sites(), 2 * 16384);
  Context context;
  const Tensor all = block.forward(in, context).features;
  // A row depends on its neighbours only: the last rows of the whole are those of a run on half the scene's
  // tail.
  const SparseTensor tail = crop(in, {25, 0, 0}, {50, 60, 70});
  Context other;
  const Tensor part = block.forward(tail, other).features;
  const std::int64_t same = 5000;
  EXPECT_LT(relative_l2(all.slice_rows(all.size(0) - same, all.size(0)).clone(),
                        part.slice_rows(part.size(0) - same, part.size(0)).clone()),
            1e-7);
}

TEST(ChannelToSpaceUpBlock, EqualsItsFormula) {
  ChannelToSpaceUpBlock block(16, 4);
  init_weights(block, 4);
  const StateDict state = state_dict(block);
  const SparseTensor in = scene(200, 16, {8, 8, 8});
  const Tensor keep =
      mask_of(linear(in.features, state.at("to_subdiv.weight"), {.bias = state.at("to_subdiv.bias")}));
  const SparseTensor normed =
      silu(layer_norm(in, {.weight = state.at("norm1.weight"), .bias = state.at("norm1.bias"), .eps = 1e-6}));
  const SparseTensor fine = channel_to_space(conv(normed, state, "conv1"), {}, keep);
  const SparseTensor past = channel_to_space(in, {}, keep);  // two channels a child
  Tensor expected = conv(silu(layer_norm(fine, {.eps = 1e-6})), state, "conv2").features.clone();
  for (std::int64_t row = 0; row < expected.size(0); ++row)
    for (int j = 0; j < 4; ++j)
      expected.mutable_data<float>()[row * 4 + j] += past.features.data<float>()[row * 2 + j / 2];
  Context context;
  const SparseTensor out = block.forward(in, context);
  EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{16, 16, 16}));
  EXPECT_GT(out.sites(), in.sites());
  EXPECT_LT(out.sites(), 8 * in.sites());
  EXPECT_LT(relative_l2(out.features, expected), 1e-6);
  EXPECT_THROW(ChannelToSpaceUpBlock(12, 4), InvalidArgument);
}

TEST(SubdivideUpBlock, EqualsItsFormula) {
  for (const std::int64_t c_out : {32, 64}) {
    SubdivideUpBlock block(64, c_out);
    init_weights(block, 5);
    const StateDict state = state_dict(block);
    const std::string up = "upsample.";
    const auto norm = [&](const SparseTensor& in, const std::string& name) {
      return silu(
          group_norm(in, 32, {.weight = state.at(name + ".weight"), .bias = state.at(name + ".bias")}));
    };
    const SparseTensor in = scene(150, 64, {7, 7, 7}, 2);
    SparseTensor x = subdivide(norm(in, up + "act_layers.0"));
    x = conv(norm(conv(x, state, up + "out_layers.0"), up + "out_layers.1"), state, up + "out_layers.3");
    const SparseTensor fine = subdivide(in);
    const Tensor past = c_out == 64 ? fine.features : conv(fine, state, up + "skip_connection").features;
    x = x.with_features(affine(x.features, {.residual = past}));
    const Tensor logits =
        linear(x.features, state.at("occupancy.weight"), {.bias = state.at("occupancy.bias")});
    const SparseTensor expected = prune(x, mask_of(logits).reshape({x.sites()}));
    Context context;
    const SparseTensor out = block.forward(in, context);
    ASSERT_EQ(out.sites(), expected.sites());
    EXPECT_LT(out.sites(), x.sites());
    EXPECT_LT(relative_l2(out.features, expected.features), 1e-6);
  }
}

TEST(DecoderBlocks, SayThatADryRunCannotGoOn) {
  SubdivideUpBlock block(32, 32);
  init_weights(block, 1);
  Context context;
  context.exec.dry_run = true;
  EXPECT_THROW(block.forward(scene(20, 32, {4, 4, 4}), context), InvalidArgument);
}

}  // namespace
}  // namespace aerogel::nn
