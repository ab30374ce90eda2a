#include "kernel_map/relation.h"

#include <gtest/gtest.h>

namespace aerogel {
namespace {

TEST(Relation, FineAndCoarseAreInverse) {
  for (std::int64_t stride = 1; stride <= 3; ++stride) {
    for (std::int64_t shift = -4; shift <= 4; ++shift) {
      const AxisRelation relation{stride, shift};
      for (std::int64_t coarse = 0; coarse < 10; ++coarse) {
        std::int64_t back = -1;
        ASSERT_TRUE(relation.coarse(relation.fine(coarse), back));
        EXPECT_EQ(back, coarse);
        if (stride > 1) {
          EXPECT_FALSE(relation.coarse(relation.fine(coarse) + 1, back));
        }
      }
      std::int64_t back = 0;
      EXPECT_FALSE(relation.coarse(relation.fine(-1), back));  // no site below 0
    }
  }
}

}  // namespace
}  // namespace aerogel
