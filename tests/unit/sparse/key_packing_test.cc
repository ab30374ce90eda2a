#include "sparse/key_packing.h"

#include <gtest/gtest.h>

namespace aerogel {
namespace {

TEST(KeyPacking, UnpacksWhatItPacksAndSortsAsRowsDo) {
  const KeyPacking packing(3, {5, 1000, 1}, {1, 2, 3});
  ASSERT_TRUE(packing.fits());
  const std::int32_t a[] = {2, 4, 999, 0};
  const std::int32_t b[] = {2, 4, 0, 0};
  std::int32_t back[4];
  packing.unpack(packing.pack(a), back);
  EXPECT_TRUE(std::equal(a, a + 4, back));
  EXPECT_LT(packing.pack(b), packing.pack(a));
}

TEST(KeyPacking, StepsInsideTheMarginNeverReachAnotherSite) {
  const KeyPacking packing(2, {4, 4}, {1, 1});
  const std::int32_t corner[] = {0, 3, 3};
  const std::int64_t right[] = {0, 1};
  const std::uint64_t moved = packing.pack(corner) + packing.step(right);
  for (std::int32_t batch = 0; batch < 2; ++batch) {
    for (std::int32_t y = 0; y < 4; ++y) {
      for (std::int32_t x = 0; x < 4; ++x) {
        const std::int32_t site[] = {batch, y, x};
        EXPECT_NE(packing.pack(site), moved);
      }
    }
  }
}

TEST(KeyPacking, SaysWhenItDoesNotFit) {
  EXPECT_FALSE(KeyPacking(2, {2147483647, 2147483647, 2147483647}).fits());
  EXPECT_TRUE(KeyPacking(1, {2147483647, 2147483647}).fits());
  EXPECT_TRUE(KeyPacking(0, {1}).fits());
}

}  // namespace
}  // namespace aerogel
