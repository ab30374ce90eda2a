#include <string>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/kernel_map.h"

namespace aerogel {
namespace {

TEST(KernelSpec, FillsDefaultsAndCentresSubmanifolds) {
  const auto spec = KernelSpec::make(ConvKind::kSubmanifold, {5, 1, 3}, {}, {}, {1, 1, 2});
  EXPECT_EQ(spec.stride, (Dims{1, 1, 1}));
  EXPECT_EQ(spec.padding, (Dims{2, 0, 2}));
  EXPECT_EQ(spec.volume(), 15);
}

TEST(KernelSpec, CountsOffsetsRowMajorFromTheMostNegativeTap) {
  const auto spec = KernelSpec::make(ConvKind::kRegular, {2, 3, 4});
  EXPECT_EQ(spec.tap(0), (Dims{0, 0, 0}));
  EXPECT_EQ(spec.tap(1), (Dims{0, 0, 1}));
  EXPECT_EQ(spec.tap(4), (Dims{0, 1, 0}));
  EXPECT_EQ(spec.tap(23), (Dims{1, 2, 3}));
}

TEST(KernelSpec, RefusesWhatIsNotLegal) {
  const auto refuses = [](auto... args) { EXPECT_THROW(KernelSpec::make(args...), InvalidArgument); };
  refuses(ConvKind::kSubmanifold, Dims{2, 3, 3});
  refuses(ConvKind::kSubmanifold, Dims{3}, Dims{2});
  refuses(ConvKind::kSubmanifold, Dims{3}, Dims{}, Dims{0});
  refuses(ConvKind::kRegular, Dims{});
  refuses(ConvKind::kRegular, Dims{3, 3, 3, 3, 3});
  refuses(ConvKind::kRegular, Dims{0});
  refuses(ConvKind::kRegular, Dims{3}, Dims{0});
  refuses(ConvKind::kRegular, Dims{3}, Dims{1}, Dims{-1});
  refuses(ConvKind::kRegular, Dims{3}, Dims{1, 1});
  refuses(ConvKind::kRegular, Dims{3}, Dims{}, Dims{}, Dims{0});
  refuses(ConvKind::kRegular, Dims{3}, Dims{}, Dims{}, Dims{}, Dims{1});
}

TEST(KernelSpec, OutputExtentsFollowTheFormulas) {
  const auto regular = KernelSpec::make(ConvKind::kRegular, {3, 3, 3}, {2, 2, 2}, {1, 0, 1});
  EXPECT_EQ(regular.output_shape({41, 41, 40}), (Dims{21, 20, 20}));
  const auto transposed = KernelSpec::make(ConvKind::kTransposed, {3}, {2}, {1}, {2}, {1});
  EXPECT_EQ(transposed.output_shape({5}), (Dims{(5 - 1) * 2 - 2 + 2 * 2 + 1 + 1}));
  EXPECT_THROW(static_cast<void>(regular.output_shape({41, 2, 40})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(regular.output_shape({41, 41})), InvalidArgument);
}

TEST(KernelSpec, TheMinkowskiRuleFixesPaddingAndExtents) {
  constexpr auto kRule = SiteRule::kMinkowski;
  const auto regular = KernelSpec::make(ConvKind::kRegular, {3, 2, 5}, {2, 2, 1}, {}, {1, 1, 2}, {}, kRule);
  EXPECT_EQ(regular.padding, (Dims{1, 0, 4}));
  EXPECT_EQ(regular.output_shape({9, 8, 7}), (Dims{5, 4, 7}));
  EXPECT_FALSE(regular.keeps_sites());
  EXPECT_TRUE(KernelSpec::make(ConvKind::kRegular, {2}, {}, {}, {}, {}, kRule).keeps_sites());
  const auto generative =
      KernelSpec::make(ConvKind::kTransposed, {3, 2, 4, 1}, {2, 2, 2, 2}, {}, {}, {}, kRule);
  EXPECT_EQ(generative.output_shape({5, 5, 5, 5}), (Dims{10, 10, 12, 10}));
  EXPECT_NE(regular.str().find(":sites=minkowski"), std::string::npos);
  EXPECT_EQ(parse_site_rule("minkowski"), kRule);
  EXPECT_THROW(parse_site_rule("spconv"), InvalidArgument);
  EXPECT_THROW(KernelSpec::make(ConvKind::kRegular, {3}, {}, {0}, {}, {}, kRule), InvalidArgument);
  EXPECT_THROW(KernelSpec::make(ConvKind::kRegular, {2}, {}, {1}, {}, {}, kRule), InvalidArgument);
  EXPECT_THROW(KernelSpec::make(ConvKind::kSubmanifold, {3}, {}, {}, {}, {}, kRule), InvalidArgument);
}

TEST(KernelSpec, OnlyAPlainSinglePointNeedsNoMap) {
  EXPECT_TRUE(KernelSpec::make(ConvKind::kRegular, {1, 1}).is_pointwise());
  EXPECT_FALSE(KernelSpec::make(ConvKind::kRegular, {1, 1}, {2, 1}).is_pointwise());
  EXPECT_FALSE(KernelSpec::make(ConvKind::kRegular, {1, 1}, {}, {0, 1}).is_pointwise());
}

}  // namespace
}  // namespace aerogel
