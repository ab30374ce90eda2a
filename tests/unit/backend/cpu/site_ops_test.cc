// Unions of unsorted sets, and the way to dense arrays and back in both layouts.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/op_kernels.h"
#include "unit/backend/literals.h"

namespace aerogel {
namespace {

TEST(SiteUnionSortedMerge, UnsortedSetsAndAnEmptyOne) {
  const Coordinates a = sites({1, 4, 0, 7, 0, 2}, {8}, 2);
  const Coordinates b = sites({0, 7, 0, 0}, {8}, 2);
  const Coordinates none = Coordinates::create(Tensor::empty({0, 2}, DType::kI32), {8}, 2);
  Coordinates out;
  Tensor rows_a, rows_b;
  cpu::kSiteUnionSortedMerge.run({a, b, &out, &rows_a, &rows_b, 1});
  EXPECT_EQ(values<std::int32_t>(out.indices()), (std::vector<std::int32_t>{0, 0, 0, 2, 0, 7, 1, 4}));
  EXPECT_EQ(values<std::int32_t>(rows_a), (std::vector<std::int32_t>{3, 2, 1}));
  EXPECT_EQ(values<std::int32_t>(rows_b), (std::vector<std::int32_t>{2, 0}));
  EXPECT_TRUE(out.is_sorted());
  cpu::kSiteUnionSortedMerge.run({none, b, &out, &rows_a, &rows_b, 1});
  EXPECT_EQ(values<std::int32_t>(out.indices()), (std::vector<std::int32_t>{0, 0, 0, 7}));
  EXPECT_EQ(rows_a.numel(), 0);
}

TEST(DenseConversions, ThereAndBackInBothLayouts) {
  const Coordinates set = sites({0, 1, 2, 1, 0, 0, 1, 1, 1}, {2, 3}, 2);
  const Tensor in =
      Tensor::from<float>({3, 2}, std::vector<float>{1, 2, 0, 3, std::numeric_limits<float>::quiet_NaN(), 0});
  for (bool channels_first : {true, false}) {
    Tensor dense = Tensor::empty(channels_first ? Dims{2, 2, 2, 3} : Dims{2, 2, 3, 2}, DType::kF32);
    cpu::kToDenseRowScatter.run({set, in, channels_first, dense, 2});
    EXPECT_EQ(dense.data<float>()[channels_first ? 5 : 10], 1);
    EXPECT_EQ(dense.data<float>()[11], 2);
    Tensor indices, features;
    cpu::kFromDenseTwoPass.run({dense, channels_first, &indices, &features, 2});
    EXPECT_EQ(values<std::int32_t>(indices), values<std::int32_t>(set.indices()));
    EXPECT_EQ(features.shape(), in.shape());
    EXPECT_TRUE(std::isnan(features.data<float>()[4]));
    EXPECT_EQ(features.data<float>()[3], 3);
  }
}

TEST(DenseConversions, NoSites) {
  const Coordinates none = Coordinates::create(Tensor::empty({0, 3}, DType::kI32), {2, 3}, 1);
  Tensor dense = Tensor::empty({1, 2, 2, 3}, DType::kF32);
  cpu::kToDenseRowScatter.run({none, Tensor::empty({0, 2}, DType::kF32), true, dense, 1});
  for (float value : values<float>(dense)) EXPECT_EQ(value, 0);
  Tensor indices, features;
  cpu::kFromDenseTwoPass.run({dense, true, &indices, &features, 1});
  EXPECT_EQ(indices.shape(), Dims({0, 3}));
  EXPECT_EQ(features.shape(), Dims({0, 2}));
}

}  // namespace
}  // namespace aerogel
