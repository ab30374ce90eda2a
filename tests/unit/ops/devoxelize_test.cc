// Between points and voxels with values worked out by hand, on both backends.
#include <cmath>

#include "aerogel/error.h"
#include "aerogel/ops/voxelize.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

/// Cells of 2 m from (10, 20, 30) on, 4 along each axis; centres at 11, 13, … along x.
VoxelGrid grid() {
  VoxelGrid grid;
  const float lo[3] = {10, 20, 30};
  for (int axis = 0; axis < 3; ++axis) {
    grid.lo[axis] = lo[axis];
    grid.hi[axis] = lo[axis] + 8;
    grid.size[axis] = 2;
  }
  return grid;
}

TEST(Devoxelize, Trilinear) {
  on_both_backends([](const ExecOptions& exec) {
    // Sites (z, y, x) (0, 0, 0) and (0, 0, 1), (0, 1, 0) and (1, 1, 1), not sorted.
    const SparseTensor voxels{floats({4, 2}, {8, 1, 2, 3, 16, 1, 4, 1}),
                              sites({0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {4, 4, 4}, 1)};
    const Tensor points = floats({6, 3}, {11, 21, 31,    // the centre of (0, 0, 0)
                                          12.5, 21, 31,  // 3/4 of the way to (0, 0, 1)
                                          12, 22, 32,    // amid eight, four of them sites
                                          10, 21, 31,    // below the first centre: that corner alone
                                          17, 27, 37,    // no site around
                                          -900, 21, 31});
    EXPECT_EQ(values<float>(devoxelize_trilinear(voxels, points, grid(), exec)),
              (Floats{2, 3, 3.5, 1.5, 7.5, 1.5, 2, 3, 0, 0, 0, 0}));
  });
}

TEST(Devoxelize, TrilinearAtTheCentresGivesTheFeaturesBack) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor voxels{floats({3, 1}, {5, -7, 9}),
                              sites({0, 3, 0, 2, 0, 3, 0, 3, 0, 0, 0, 0}, {4, 4, 4}, 1)};
    Tensor points = floats({3, 3}, std::vector<float>(9));
    for (std::int64_t i = 0; i < 3; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        const auto index = static_cast<float>(voxels.coordinates.row(i)[3 - axis]);
        points.mutable_data<float>()[i * 3 + axis] = grid().lo[axis] + (index + 0.5f) * 2;
      }
    }
    EXPECT_EQ(values<float>(devoxelize_trilinear(voxels, points, grid(), exec)), (Floats{5, -7, 9}));
  });
}

TEST(Devoxelize, NoSitesNoPointsAndRefusals) {
  const SparseTensor none{floats({0, 2}, {}), sites({}, {4, 4, 4}, 1)};
  EXPECT_EQ(values<float>(devoxelize_trilinear(none, floats({1, 3}, {11, 21, 31}), grid())), (Floats{0, 0}));
  EXPECT_EQ(devoxelize_trilinear(none, floats({0, 3}, {}), grid()).str(), "f32 [0, 2]");
  EXPECT_THROW(devoxelize_trilinear(none, floats({1, 3}, {std::nanf(""), 0, 0}), grid()), InvalidArgument);
  EXPECT_THROW(devoxelize_trilinear(none, floats({1, 2}, {1, 2}), grid()), InvalidArgument);
  EXPECT_THROW(devoxelize_trilinear(line({1, 2, 3}), floats({1, 3}, {1, 2, 3}), grid()), InvalidArgument);
  const SparseTensor two{floats({0, 2}, {}), sites({}, {4, 4, 4}, 2)};
  EXPECT_THROW(devoxelize_trilinear(two, floats({1, 3}, {1, 2, 3}), grid()), InvalidArgument);
}

TEST(VoxelizeReduce, FirstSumMaximumAndMean) {
  on_both_backends([](const ExecOptions& exec) {
    // Two points in the last voxel, one in the first, one outside; the fourth column is the feature.
    const Tensor points = floats({4, 4}, {17, 27, 37, 6, 10, 20, 30, -1, 9, 20, 30, 100, 16, 26, 36, 10});
    const auto column = [&](Reduce reduce) {
      const ReducedVoxels out = voxelize_reduce(points, grid(), reduce, exec);
      EXPECT_EQ(values<std::int32_t>(out.voxels.coordinates.indices()), (Ints{0, 0, 0, 0, 0, 3, 3, 3}));
      EXPECT_EQ(values<std::int64_t>(out.point_voxel), (Longs{1, 0, -1, 1}));
      EXPECT_EQ(values<std::int32_t>(out.points_per_voxel), (Ints{1, 2}));
      const Floats all = values<float>(out.voxels.features);
      return Floats{all[3], all[7]};
    };
    EXPECT_EQ(column(Reduce::kMean), (Floats{-1, 8}));
    EXPECT_EQ(column(Reduce::kMax), (Floats{-1, 10}));
    EXPECT_EQ(column(Reduce::kSum), (Floats{-1, 16}));
    EXPECT_EQ(column(Reduce::kFirst), (Floats{-1, 6}));
  });
}

}  // namespace
}  // namespace aerogel
