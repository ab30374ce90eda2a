#include "aerogel/ops/convolution.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

TEST(ByHand, SubmanifoldMapOfALine) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in = line({0, 0, 0});  // sites 0, 1, 3
    const auto map = build_kernel_map(in.coordinates, KernelSpec::make(ConvKind::kSubmanifold, {3}), exec);
    // tap −1: row 1 reads row 0; tap 0: each reads itself; tap +1: row 0 reads row 1
    EXPECT_EQ(values<std::int64_t>(map->offset_begin), (Longs{0, 1, 4, 5}));
    EXPECT_EQ(values<std::int32_t>(map->in_rows), (Ints{0, 0, 1, 2, 1}));
    EXPECT_EQ(values<std::int32_t>(map->out_rows), (Ints{1, 0, 1, 2, 0}));
    EXPECT_FALSE(map->new_coordinates.defined());
  });
}

TEST(ByHand, RegularMapOfUnsortedRows) {
  on_both_backends([](const ExecOptions& exec) {
    const Coordinates in = sites({0, 3, 0, 0, 0, 1}, {5}, 1);  // columns 3, 0, 1
    const auto map = build_kernel_map(in, KernelSpec::make(ConvKind::kRegular, {3}, {2}, {1}), exec);
    // fine = 2 · coarse + tap − 1. tap 0: coarse 1 reads 1, coarse 2 reads 3; tap 1: coarse 0 reads 0;
    // tap 2: coarse 0 reads 1, coarse 1 reads 3
    EXPECT_EQ(values<std::int64_t>(map->offset_begin), (Longs{0, 2, 3, 5}));
    EXPECT_EQ(values<std::int32_t>(map->in_rows), (Ints{2, 0, 1, 2, 0}));
    EXPECT_EQ(values<std::int32_t>(map->out_rows), (Ints{1, 2, 0, 0, 1}));
    EXPECT_EQ(values<std::int32_t>(map->new_coordinates.indices()), (Ints{0, 0, 0, 1, 0, 2}));
    EXPECT_EQ(map->new_coordinates.tensor_stride(), Dims{2});
  });
}

TEST(ByHand, TheLastAxisOfAKernelCountsFastest) {
  on_both_backends([](const ExecOptions& exec) {
    const Coordinates in = sites({0, 0, 0, 0, 0, 1, 0, 1, 0}, {2, 2}, 1);  // (0,0) (0,1) (1,0)
    const auto map = build_kernel_map(in, KernelSpec::make(ConvKind::kSubmanifold, {3, 3}), exec);
    // Offsets 0 … 8 are (−1,−1) (−1,0) (−1,1) (0,−1) (0,0) (0,1) (1,−1) (1,0) (1,1).
    EXPECT_EQ(values<std::int64_t>(map->offset_begin), (Longs{0, 0, 1, 2, 3, 6, 7, 8, 9, 9}));
    EXPECT_EQ(values<std::int32_t>(map->in_rows), (Ints{0, 1, 0, 0, 1, 2, 1, 2, 2}));
    EXPECT_EQ(values<std::int32_t>(map->out_rows), (Ints{2, 2, 1, 0, 1, 2, 0, 1, 0}));
  });
}

}  // namespace
}  // namespace aerogel
