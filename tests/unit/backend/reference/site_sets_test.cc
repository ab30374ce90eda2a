#include "aerogel/ops/dense.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

// Two items of a 2 × 3 grid: item 0 has (1, 2) at (0, 2), item 1 has (3, 4) at (1, 0).
const Floats kChannelsFirst = {0, 0, 1, 0, 0, 0,  //
                               0, 0, 2, 0, 0, 0,  //
                               0, 0, 0, 3, 0, 0,  //
                               0, 0, 0, 4, 0, 0};
const Floats kChannelsLast = {0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0,  //
                              0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0};

TEST(ByHand, ToDense) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in{floats({2, 2}, {3, 4, 1, 2}), sites({1, 1, 0, 0, 0, 2}, {2, 3}, 2)};
    const Tensor first = to_dense(in, DenseLayout::kChannelsFirst, exec);
    EXPECT_EQ(first.shape(), (Dims{2, 2, 2, 3}));
    EXPECT_EQ(values<float>(first), kChannelsFirst);
    const Tensor last = to_dense(in, DenseLayout::kChannelsLast, exec);
    EXPECT_EQ(last.shape(), (Dims{2, 2, 3, 2}));
    EXPECT_EQ(values<float>(last), kChannelsLast);
  });
}

TEST(ByHand, FromDense) {
  on_both_backends([](const ExecOptions& exec) {
    for (const DenseLayout layout : {DenseLayout::kChannelsFirst, DenseLayout::kChannelsLast}) {
      const bool first = layout == DenseLayout::kChannelsFirst;
      const Tensor dense = first ? floats({2, 2, 2, 3}, kChannelsFirst) : floats({2, 2, 3, 2}, kChannelsLast);
      const SparseTensor out = from_dense(dense, layout, exec);
      EXPECT_EQ(values<std::int32_t>(out.coordinates.indices()), (Ints{0, 0, 2, 1, 1, 0}));
      EXPECT_EQ(values<float>(out.features), (Floats{1, 2, 3, 4}));
      EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{2, 3}));
    }
  });
}

TEST(ByHand, OneChannelNotZeroMakesASite) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor out =
        from_dense(floats({1, 3, 2}, {0, 0, 0, -5, 0, 0}), DenseLayout::kChannelsLast, exec);
    EXPECT_EQ(values<std::int32_t>(out.coordinates.indices()), (Ints{0, 1}));
    EXPECT_EQ(values<float>(out.features), (Floats{0, -5}));
  });
}

}  // namespace
}  // namespace aerogel
