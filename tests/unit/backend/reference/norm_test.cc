#include "aerogel/ops/norm.h"

#include <cmath>

#include "aerogel/error.h"
#include "aerogel/ops/elementwise.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

TEST(ByHand, LayerNorm) {
  on_both_backends([](const ExecOptions& exec) {
    // 1 3 → mean 2, variance 1; 1 / √(1 + 3) = 1/2: −1/2, 1/2;  · (4, −2) + (0, 1)
    // 5 5 → mean 5, variance 0: 0, 0
    const Norm norm{floats({2}, {4, -2}), floats({2}, {0, 1}), 3};
    EXPECT_EQ(values<float>(layer_norm(floats({2, 2}, {1, 3, 5, 5}), norm, exec)), (Floats{-2, 0, 0, 1}));
    EXPECT_EQ(values<float>(layer_norm(floats({1, 2}, {1, 3}), {.eps = 3}, exec)), (Floats{-0.5, 0.5}));
  });
}

TEST(ByHand, RmsNorm) {
  on_both_backends([](const ExecOptions& exec) {
    // mean square (1 + 49) / 2 = 25, √(25 + 39) = 8
    EXPECT_EQ(
        values<float>(rms_norm(floats({1, 2}, {-1, 7}), {.weight = floats({2}, {8, 16}), .eps = 39}, exec)),
        (Floats{-1, 14}));
  });
}

TEST(ByHand, GroupNormPerItem) {
  on_both_backends([](const ExecOptions& exec) {
    // Item 0 has rows 0 and 2, item 2 has row 1, item 1 none; groups (0, 1) and (2, 3).
    const SparseTensor in{floats({3, 4}, {1, 3, 0, 0, 7, 7, -4, 4, 3, 5, 0, 8}),
                          sites({0, 1, 2, 0, 0, 4}, {5}, 3)};
    // item 0: 1 3 3 5 → mean 3, variance 2, √(2 + 2) = 2;   0 0 0 8 → mean 2, variance 12, √(12 + 2): √14
    // item 2: 7 7 → 0, 0;   −4 4 → mean 0, variance 16, √18
    const Floats out = values<float>(group_norm(in, 2, {.eps = 2}, exec).features);
    const auto f = [](double x) { return static_cast<float>(x); };
    const Floats expected = {-1, 0, f(-2 / std::sqrt(14)), f(-2 / std::sqrt(14)),  //
                             0,  0, f(-4 / std::sqrt(18)), f(4 / std::sqrt(18)),   //
                             0,  1, f(-2 / std::sqrt(14)), f(6 / std::sqrt(14))};
    ASSERT_EQ(out.size(), expected.size());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_FLOAT_EQ(out[i], expected[i]) << i;
  });
}

TEST(ByHand, InstanceNorm) {
  on_both_backends([](const ExecOptions& exec) {
    // per item and channel: 1 5 → mean 3, variance 4, √(4 + 5) = 3; 2 2 → 0;  a lone row is its own mean
    const SparseTensor in{floats({3, 2}, {1, 2, 9, 9, 5, 2}), sites({1, 0, 0, 0, 1, 4}, {5}, 2)};
    const Norm norm{floats({2}, {3, 1}), floats({2}, {0, 7}), 5};
    EXPECT_EQ(values<float>(instance_norm(in, norm, exec).features), (Floats{-2, 7, 0, 7, 2, 7}));
  });
}

TEST(ByHand, ActivationsOfRowsAndSites) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in = line({-8, 0, 2});
    EXPECT_EQ(values<float>(leaky_relu(in, 0.5f, exec).features), (Floats{-4, 0, 2}));
    EXPECT_EQ(values<float>(relu(in.features, exec)), (Floats{0, 0, 2}));
    EXPECT_EQ(values<float>(sigmoid(in, exec).features)[1], 0.5f);
    EXPECT_FLOAT_EQ(values<float>(silu(in, exec).features)[2], 1.7615942f);
    EXPECT_FLOAT_EQ(values<float>(gelu_erf(in, exec).features)[2], 1.9544997f);
    EXPECT_FLOAT_EQ(values<float>(gelu_tanh(in, exec).features)[2], 1.9545977f);
  });
}

TEST(Norm, NoSitesNoChannelsAndRefusals) {
  const SparseTensor none{floats({0, 4}, {}), sites({}, {5}, 2)};
  EXPECT_EQ(group_norm(none, 2).features.str(), "f32 [0, 4]");
  EXPECT_EQ(instance_norm(none).sites(), 0);
  EXPECT_EQ(layer_norm(floats({3, 0}, {})).str(), "f32 [3, 0]");
  EXPECT_EQ(instance_norm(SparseTensor{floats({3, 0}, {}), line({1, 2, 3}).coordinates}).channels(), 0);
  EXPECT_THROW(group_norm(line({1, 2, 3, 4, 5, 6}), 4), InvalidArgument);
  EXPECT_THROW(group_norm(line({1, 2, 3}), 0), InvalidArgument);
  EXPECT_THROW(layer_norm(floats({1, 2}, {1, 2}), {.eps = -1}), InvalidArgument);
  EXPECT_THROW(layer_norm(floats({1, 2}, {1, 2}), {.weight = floats({3}, {1, 2, 3})}), InvalidArgument);
  EXPECT_THROW(instance_norm({}), InvalidArgument);
}

}  // namespace
}  // namespace aerogel
