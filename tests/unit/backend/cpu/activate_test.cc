// How far the vectorised activations are from their definitions in double, over the whole range of f32.
#include "backend/reference/activate.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/op_kernels.h"
#include "unit/backend/literals.h"

namespace aerogel {
namespace {

std::vector<float> activated(Activation activation, const std::vector<float>& x, float slope = 0.01f) {
  const std::int64_t n = std::ssize(x);
  AffineArgs args{floats({1, n}, x)};
  args.activation = activation;
  args.negative_slope = slope;
  args.out = Tensor::empty({1, n}, DType::kF32);
  cpu::kAffineRowLoop.run(args);
  return values<float>(args.out);
}

/// Floats of both signs, evenly over their bit patterns: 2,000 a power of two from 2⁻³⁰ to 2⁷.
std::vector<float> sweep() {
  std::vector<float> x;
  for (std::uint32_t bits = 0x30800000; bits < 0x43000000; bits += 4177) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  return x;
}

TEST(Activate, WithinTenUnitsOfTheDefinition) {
  const std::vector<float> x = sweep();
  for (const Activation activation : {Activation::kSigmoid, Activation::kSilu, Activation::kGeluErf}) {
    const std::vector<float> y = activated(activation, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = reference::activate(activation, 0, x[i]);
      if (std::abs(expected) < 0x1p-120) continue;  // near the least normal number powers may be flushed
      worst = std::max(worst, std::abs(y[i] - expected) / std::abs(expected));
    }
    EXPECT_LT(worst, 10 * 0x1p-24) << activation_name(activation);
    RecordProperty(std::string(activation_name(activation)), std::to_string(worst * 0x1p24));
  }
}

TEST(Activate, GeluTanhLosesWithItsArgument) {
  const std::vector<float> x = sweep();
  const std::vector<float> y = activated(Activation::kGeluTanh, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = reference::activate(Activation::kGeluTanh, 0, x[i]);
    const double cube = double{x[i]} * x[i] * x[i];
    const double argument = x[i] < 0 ? 0.8 * (std::abs(x[i]) + 0.044715 * std::abs(cube)) : 0;
    ASSERT_LE(std::abs(y[i] - expected), (10 * 0x1p-24 + argument * 0x1p-21) * std::abs(expected) + 0x1p-120)
        << x[i];
  }
}

TEST(Activate, LimitsZerosAndNan) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kMax = std::numeric_limits<float>::max();
  const std::vector<float> x = {-kInf, -kMax, -200, 0, 200, kMax, kInf};
  const auto expect = [&](Activation activation, const std::vector<float>& expected) {
    EXPECT_EQ(activated(activation, x), expected) << activation_name(activation);
    for (std::size_t n : {1, 5, 17}) {  // in a vector and in what is left
      for (const float value : activated(activation, std::vector<float>(n, std::nanf(""))))
        EXPECT_TRUE(std::isnan(value)) << activation_name(activation);
    }
  };
  expect(Activation::kNone, x);
  expect(Activation::kRelu, {0, 0, 0, 0, 200, kMax, kInf});
  expect(Activation::kSigmoid, {0, 0, 0, 0.5, 1, 1, 1});
  expect(Activation::kSilu, {0, 0, 0, 0, 200, kMax, kInf});
  expect(Activation::kGeluErf, {0, 0, 0, 0, 200, kMax, kInf});
  expect(Activation::kGeluTanh, {0, 0, 0, 0, 200, kMax, kInf});
  EXPECT_EQ(activated(Activation::kLeakyRelu, {-kInf, -2, 0, 2, kInf}, 0.25f),
            (std::vector<float>{-kInf, -0.5, 0, 2, kInf}));
  EXPECT_EQ(activated(Activation::kLeakyRelu, {-100}), (std::vector<float>{-1}));
}

}  // namespace
}  // namespace aerogel
