// A judge that cannot fail judges nothing: every kind of wrong output is planted.
#include "layer_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "conformance/generate.h"

namespace aerogel::cli {
namespace {

/// A submanifold layer of 300 sites whose output the reference computed.
class LayerCheck : public ::testing::Test {
 protected:
  LayerCheck() {
    testing::Random random(5);
    const Coordinates sites = testing::random_sites(random, {12, 12, 12}, 1, 300, true);
    args_.problem.spec = KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3});
    testing::run_row(testing::reference_row<MapArgs>(&KernelTables::build_kernel_map),
                     MapArgs{sites, args_.problem.spec, 1, &map_}, 1);
    args_.map = &map_;
    args_.problem.n_in = args_.problem.n_out = sites.size();
    args_.problem.c_in = kIn;
    args_.problem.c_out = kOut;
    args_.in = testing::signed_tensor(random, {sites.size(), kIn});
    args_.weight = ConvWeight(testing::signed_tensor(random, {kOut, 3, 3, 3, kIn}));
    args_.out = Tensor::empty({sites.size(), kOut}, DType::kF32);
    testing::run_row(testing::reference_row<SparseConvArgs>(&KernelTables::sparse_conv), args_, 1);
  }

  LayerVerdict verdict(std::int64_t most_rows = 1 << 20) const {
    return check_layer(args_, {most_rows, kEverything, 1});
  }
  float* out() const { return args_.out.mutable_data<float>(); }

  static constexpr std::int64_t kIn = 8;
  static constexpr std::int64_t kOut = 6;
  KernelMap map_;
  SparseConvArgs args_;
};

TEST_F(LayerCheck, PassesTheReferenceOnEveryRow) {
  const LayerVerdict found = verdict();
  EXPECT_TRUE(found.passed);
  EXPECT_EQ(found.rows, args_.problem.n_out);
  EXPECT_LT(found.worst, 0.1);
}

TEST_F(LayerCheck, FailsOneElementPastItsTolerance) {
  // Σ|terms| is at most 216, so the tolerance at most (4 · √216 + 8) · 2^-24 · 216 < 0.001.
  out()[args_.out.numel() - 1] += 0.001F;
  const LayerVerdict found = verdict();
  EXPECT_FALSE(found.passed);
  EXPECT_GT(found.worst, 1);
  EXPECT_GT(found.relative_l2(), 0);
}

TEST_F(LayerCheck, PassesOneRoundingAndTellsIt) {
  float& value = *std::max_element(out(), out() + args_.out.numel());
  value = std::nextafter(value, 2 * value);
  const LayerVerdict found = verdict();
  EXPECT_TRUE(found.passed);
  EXPECT_GT(found.worst, 0);
}

TEST_F(LayerCheck, FailsNanInfinityAndZeros) {
  const float right = out()[7];
  for (const float wrong : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    out()[7] = wrong;
    const LayerVerdict found = verdict();
    EXPECT_FALSE(found.passed) << wrong;
    EXPECT_FALSE(found.worst <= 1) << wrong;
  }
  out()[7] = right;
  ASSERT_TRUE(verdict().passed);
  std::fill_n(out(), args_.out.numel(), 0.0F);
  EXPECT_FALSE(verdict().passed);
}

TEST_F(LayerCheck, FailsAFlippedKernelOnDrawnRows) {
  const Tensor weight = args_.weight.canonical();
  Tensor flipped = weight.clone();
  for (std::int64_t n = 0; n < kOut; ++n) {
    for (std::int64_t k = 0; k < 27; ++k) {
      std::copy_n(weight.data<float>() + (n * 27 + 26 - k) * kIn, kIn,
                  flipped.mutable_data<float>() + (n * 27 + k) * kIn);
    }
  }
  args_.weight = ConvWeight(flipped);
  const LayerVerdict found = verdict(20);
  EXPECT_EQ(found.rows, 20);
  EXPECT_FALSE(found.passed);
}

TEST_F(LayerCheck, ComparesWhatItMayCost) {
  const std::int64_t products = map_.in_rows.numel() * kIn * kOut;
  EXPECT_EQ(check_layer(args_, {1000, products, 1}).rows, args_.problem.n_out);
  EXPECT_NEAR(static_cast<double>(check_layer(args_, {1000, products / 2, 1}).rows), 150, 1);
  EXPECT_EQ(check_layer(args_, {1000, 1, 1}).rows, 16);
  EXPECT_EQ(check_layer(args_, {10, 1, 1}).rows, 10);
}

TEST_F(LayerCheck, IsTheSameForAnyThreads) {
  const LayerVerdict one = check_layer(args_, {200, kEverything, 1}, 1);
  const LayerVerdict four = check_layer(args_, {200, kEverything, 1}, 4);
  EXPECT_EQ(one.worst, four.worst);
  EXPECT_EQ(one.relative_l2(), four.relative_l2());
}

TEST_F(LayerCheck, JoinsTheVerdictsOfParts) {
  LayerVerdict whole = verdict(20);
  out()[0] = std::nanf("");
  const LayerVerdict bad = verdict();
  whole.join(bad);
  EXPECT_EQ(whole.rows, 20 + bad.rows);
  EXPECT_FALSE(whole.passed);
  EXPECT_TRUE(std::isnan(whole.worst));
  whole.join(LayerVerdict{});
  EXPECT_TRUE(std::isnan(whole.worst));
}

TEST_F(LayerCheck, FailsWrongEpilogues) {
  args_.epilogue.activation = Activation::kRelu;  // the output was computed without
  EXPECT_FALSE(verdict().passed);
}

}  // namespace
}  // namespace aerogel::cli
