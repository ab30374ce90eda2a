// The comparison with recordings must fail where it should.
#include "nn/golden/comparison.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "unit/backend/literals.h"

namespace aerogel::nn::golden {
namespace {

std::size_t float_failures(const std::vector<float>& got, const std::vector<float>& expected,
                           std::optional<double> atol) {
  Comparison comparison;
  comparison.floats("x", floats({std::ssize(got)}, got), floats({std::ssize(expected)}, expected), atol);
  return comparison.failures().size();
}

TEST(Comparison, FloatsWithinAnAbsoluteBound) {
  EXPECT_EQ(float_failures({1, -2}, {1, -2}, 0.0), 0u);
  EXPECT_EQ(float_failures({1, -2.25F}, {1, -2}, 0.25), 0u);
  EXPECT_EQ(float_failures({1, -2.25F}, {1, -2}, 0.24), 1u);
  EXPECT_EQ(float_failures({1, 2}, {1, -2}, 0.25), 1u) << "a sign";
}

TEST(Comparison, FloatsWithinARelativeNorm) {
  // ‖(3, 4)‖ = 5, so the bound is 5e-5.
  EXPECT_EQ(float_failures({3, 4.00004F}, {3, 4}, std::nullopt), 0u);
  EXPECT_EQ(float_failures({3, 4.00006F}, {3, 4}, std::nullopt), 1u);
  EXPECT_EQ(float_failures({4, 3}, {3, 4}, std::nullopt), 1u) << "elements swapped";
  EXPECT_EQ(float_failures({1e-4F}, {0}, std::nullopt), 1u) << "nothing was expected";
}

TEST(Comparison, NotANumberFailsOnEitherSide) {
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  for (const std::optional<double> atol : {std::optional<double>(1e9), std::optional<double>()}) {
    EXPECT_EQ(float_failures({nan, 1}, {1, 1}, atol), 1u);
    EXPECT_EQ(float_failures({1, 1}, {nan, 1}, atol), 1u);
    EXPECT_EQ(float_failures({inf, 1}, {1, 1}, atol), 1u);
  }
  EXPECT_EQ(float_failures({-inf, 1}, {-inf, 1}, 0.0), 0u);
}

TEST(Comparison, ShapesAndIntegersAndTextAreExact) {
  Comparison comparison;
  comparison.floats("x", floats({2, 1}, {1, 2}), floats({1, 2}, {1, 2}), 1.0);
  EXPECT_EQ(comparison.failures().size(), 1u);
  const auto ints = [](std::vector<std::int32_t> list) {
    return Tensor::from<std::int32_t>({std::ssize(list)}, list);
  };
  comparison.integers("rows", ints({1, 2, 3}), ints({1, 2, 4}));
  comparison.integers("rows", ints({1, 2}), ints({1, 2, 3}));
  ASSERT_EQ(comparison.failures().size(), 3u);
  EXPECT_NE(comparison.failures()[1].find("first at element 2: expected 4, got 3"), std::string::npos)
      << comparison.failures()[1];
  comparison.integers("rows", ints({5}), Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{5}));
  comparison.shape("shape", {2, 3}, {2, 3});
  comparison.text("key", "subm1", "subm1");
  EXPECT_EQ(comparison.failures().size(), 3u);
  comparison.shape("shape", {2, 3}, {3, 2});
  comparison.text("key", "subm1", "subm2");
  EXPECT_EQ(comparison.failures().size(), 5u);
}

}  // namespace
}  // namespace aerogel::nn::golden
