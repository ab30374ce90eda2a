#include "aerogel/ops/voxelize.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

// A grid of 4 × 2 × 2 unit cells along x, y, z.
const VoxelGrid kGrid{{0, 0, 0}, {4, 2, 2}, {1, 1, 1}};

TEST(ByHand, CappedVoxelizer) {
  on_both_backends([](const ExecOptions& exec) {
    const Tensor points = floats({8, 4}, {0.5,  0.5, 0.5, 10,    // cell z 0, y 0, x 0: voxel 0
                                          3.5,  1.5, 0.5, 20,    // 0, 1, 3: voxel 1
                                          0.75, 0,   0,   30,    // voxel 0
                                          0.25, 0,   0,   40,    // voxel 0, full: an id and no place
                                          -0.5, 0,   0,   50,    // outside
                                          1.5,  0,   1.5, 60,    // 1, 0, 1: a third voxel, past the cap
                                          4,    0,   0,   70,    // the upper bound is outside
                                          3,    1,   0,   80});  // the lower one is inside: voxel 1
    const Voxels out = voxelize(points, kGrid, {2, 2}, exec);
    EXPECT_EQ(values<std::int32_t>(out.indices), (Ints{0, 0, 0, 0, 1, 3}));
    EXPECT_EQ(values<std::int32_t>(out.points_per_voxel), (Ints{2, 2}));
    EXPECT_EQ(values<std::int64_t>(out.point_voxel), (Longs{0, 1, 0, 0, -1, -1, -1, 1}));
    EXPECT_EQ(values<float>(out.points),
              (Floats{0.5, 0.5, 0.5, 10, 0.75, 0, 0, 30, 3.5, 1.5, 0.5, 20, 3, 1, 0, 80}));
  });
}

TEST(ByHand, VoxelsWithRoomAreZeroPadded) {
  on_both_backends([](const ExecOptions& exec) {
    const Voxels out = voxelize(floats({1, 3}, {1.5, 0.5, 1.5}), kGrid, {2, 5}, exec);
    EXPECT_EQ(values<std::int32_t>(out.indices), (Ints{1, 0, 1}));
    EXPECT_EQ(values<float>(out.points), (Floats{1.5, 0.5, 1.5, 0, 0, 0}));
  });
}

TEST(ByHand, MeanVoxelizer) {
  on_both_backends([](const ExecOptions& exec) {
    const Tensor points = floats({5, 4}, {1.5,  0.5, 1.5, 60,    // cell 1, 0, 1: the last row, seen first
                                          0.5,  0.5, 0,   10,    // 0, 0, 0
                                          3.5,  1.5, 0.5, 20,    // 0, 1, 3
                                          9,    0,   0,   99,    // outside
                                          0.25, 0,   0.5, 40});  // 0, 0, 0
    const MeanVoxels out = voxelize_mean(points, kGrid, exec);
    EXPECT_EQ(values<std::int32_t>(out.voxels.coordinates.indices()),
              (Ints{0, 0, 0, 0, 0, 0, 1, 3, 0, 1, 0, 1}));
    EXPECT_EQ(values<float>(out.voxels.features),
              (Floats{0.375, 0.25, 0.25, 25, 3.5, 1.5, 0.5, 20, 1.5, 0.5, 1.5, 60}));
    EXPECT_EQ(values<std::int64_t>(out.point_voxel), (Longs{2, 0, 1, -1, 0}));
    EXPECT_EQ(values<std::int32_t>(out.points_per_voxel), (Ints{2, 1, 1}));
    EXPECT_EQ(out.voxels.coordinates.spatial_shape(), (Dims{2, 2, 4}));
  });
}

}  // namespace
}  // namespace aerogel
