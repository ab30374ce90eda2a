#include "nn/conv_block.h"

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/ops/elementwise.h"

#include "nn/pointwise_layers.h"
#include "nn/sequential.h"
#include "unit/nn/scene.h"

namespace aerogel::nn {
namespace {

constexpr double kEps = 1e-3;

ConvLayerOptions submanifold(std::int64_t c_in, std::int64_t c_out) {
  ConvLayerOptions options;
  options.c_in = c_in;
  options.c_out = c_out;
  options.kernel = {3, 3, 3};
  return options;
}

Context inference() {
  Context context;
  context.exec.backend = Backend::kReference;
  return context;
}

TEST(ConvBlock, FoldedEqualsUnfused) {
  ConvLayerOptions options = submanifold(4, 6);
  options.kind = ConvKind::kRegular;
  options.stride = {2, 2, 2};
  options.padding = {1, 1, 1};
  ConvBlock folded(options, kEps);
  Sequential unfused;
  unfused.add("0", std::make_unique<ConvLayer>(options));
  unfused.add("1", std::make_unique<NormLayer>(6, kEps));
  unfused.add("2", std::make_unique<ReluLayer>());
  init_weights(folded, 3);
  load_state_dict(unfused, state_dict(folded));

  const SparseTensor in = scene(200, 4, {12, 12, 12});
  Context a = inference();
  Context b = inference();
  EXPECT_LT(relative_l2(folded.forward(in, a).features, unfused.forward(in, b).features), 1e-6);
}

TEST(ConvBlock, SettingAParameterFoldsAgain) {
  ConvBlock block(submanifold(3, 3), kEps);
  init_weights(block, 3);
  const SparseTensor in = scene(50, 3, {6, 6, 6});
  Context context = inference();
  const Tensor before = block.forward(in, context).features;
  StateDict state = state_dict(block);
  state["1.bias"] = Tensor::from<float>({3}, std::vector<float>{5, 5, 5});
  load_state_dict(block, state);
  EXPECT_GT(relative_l2(block.forward(in, context).features, before), 0.1);
}

TEST(ResidualBlock, FoldedEqualsUnfused) {
  ConvLayerOptions with_bias = submanifold(5, 5);
  with_bias.bias = true;
  ResidualBlock block(with_bias, kEps);
  init_weights(block, 4);
  const SparseTensor in = scene(200, 5, {10, 10, 10});

  Sequential unfused;
  unfused.add("conv1", std::make_unique<ConvLayer>(with_bias));
  unfused.add("bn1", std::make_unique<NormLayer>(5, kEps));
  unfused.add("relu", std::make_unique<ReluLayer>());
  unfused.add("conv2", std::make_unique<ConvLayer>(with_bias));
  unfused.add("bn2", std::make_unique<NormLayer>(5, kEps));
  load_state_dict(unfused, state_dict(block));

  Context a = inference();
  Context b = inference();
  const SparseTensor expected = relu(add(unfused.forward(in, b), in, b.exec), b.exec);
  EXPECT_LT(relative_l2(block.forward(in, a).features, expected.features), 1e-6);
}

TEST(ResidualBlock, ProjectsWhereChannelsChange) {
  ResidualBlock block(submanifold(4, 6), kEps);
  init_weights(block, 5);
  const SparseTensor in = scene(200, 4, {10, 10, 10});
  Sequential main;
  main.add("conv1", std::make_unique<ConvLayer>(submanifold(4, 6)));
  main.add("bn1", std::make_unique<NormLayer>(6, kEps));
  main.add("relu", std::make_unique<ReluLayer>());
  main.add("conv2", std::make_unique<ConvLayer>(submanifold(6, 6)));
  main.add("bn2", std::make_unique<NormLayer>(6, kEps));
  Sequential past;
  ConvLayerOptions pointwise = submanifold(4, 6);
  pointwise.kernel = {1, 1, 1};
  past.add("proj.0", std::make_unique<ConvLayer>(pointwise));
  past.add("proj.1", std::make_unique<NormLayer>(6, kEps));
  StateDict of_main;
  StateDict of_past;
  for (const auto& [name, tensor] : state_dict(block))
    (name.rfind("proj", 0) == 0 ? of_past : of_main)[name] = tensor;
  load_state_dict(main, of_main);
  load_state_dict(past, of_past);

  for (const bool training : {false, true}) {
    Context a = inference();
    Context b = inference();
    a.training = b.training = training;
    const SparseTensor expected = relu(add(main.forward(in, b), past.forward(in, b), b.exec), b.exec);
    EXPECT_LT(relative_l2(block.forward(in, a).features, expected.features), 1e-6) << training;
  }
}

TEST(ResidualBlock, NeedsASubmanifoldKernel) {
  ConvLayerOptions strided = submanifold(4, 4);
  strided.kind = ConvKind::kRegular;
  EXPECT_THROW(ResidualBlock(strided, kEps), InvalidArgument);
}

TEST(NormLayer, StartsAsTheIdentity) {
  const NormLayer norm(3, 0);
  const SparseTensor in = scene(20, 3, {5, 5, 5});
  Context context = inference();
  EXPECT_LT(relative_l2(norm.forward(in, context).features, in.features), 1e-7);
}

TEST(LinearLayer, MultipliesRows) {
  LinearLayer linear(2, 1, true);
  load_state_dict(linear, {{"weight", Tensor::from<float>({1, 2}, std::vector<float>{3, -1})},
                           {"bias", Tensor::from<float>({1}, std::vector<float>{10})}});
  const SparseTensor in = scene(5, 2, {4, 4, 4});
  Context context = inference();
  const SparseTensor out = linear.forward(in, context);
  for (std::int64_t i = 0; i < in.sites(); ++i) {
    const float* x = in.features.data<float>() + 2 * i;
    EXPECT_FLOAT_EQ(out.features.data<float>()[i], 3 * x[0] - x[1] + 10);
  }
}

TEST(InverseLayer, NeedsALevelToReturnTo) {
  ConvLayerOptions options = submanifold(2, 2);
  options.kind = ConvKind::kInverse;
  options.key = "down";
  ConvLayer up(options);
  init_weights(up, 1);
  Context context = inference();
  try {
    up.forward(scene(5, 2, {4, 4, 4}), context);
    FAIL() << "expected InvalidArgument";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("'down' (known: none)"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace aerogel::nn
