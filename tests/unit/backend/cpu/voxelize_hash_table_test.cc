// Caps, first-seen order and dropped points by hand.
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/op_kernels.h"

namespace aerogel {
namespace {

template <class T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

constexpr GridNumbers kGrid = {{0, 0, 0}, {1, 1, 1}, {4, 3, 2}};

TEST(VoxelizeHashTable, CapsKeepFirstSeenVoxelsAndPoints) {
  const Tensor points =
      Tensor::from<float>({7, 3}, std::vector<float>{3.5f, 0,    0,    // voxel 0
                                                     0,    2.5f, 1,    // voxel 1
                                                     3.9f, 0,    0,    // voxel 0
                                                     4,    0,    0,    // the far edge is outside
                                                     3.1f, 0,    0,    // voxel 0, not stored
                                                     1,    1,    1,    // past max_voxels
                                                     0,    2,    1});  // voxel 1
  for (int threads : {1, 3}) {
    Tensor voxel_points, indices, counts, ids;
    cpu::kVoxelizeHashTable.run({points, kGrid, 2, 2, &voxel_points, &indices, &counts, &ids, threads});
    EXPECT_EQ(values<std::int64_t>(ids), (std::vector<std::int64_t>{0, 1, 0, -1, 0, -1, 1}));
    EXPECT_EQ(values<std::int32_t>(indices), (std::vector<std::int32_t>{0, 0, 3, 1, 2, 0}));
    EXPECT_EQ(values<std::int32_t>(counts), (std::vector<std::int32_t>{2, 2}));
    EXPECT_EQ(values<float>(voxel_points), (std::vector<float>{3.5f, 0, 0, 3.9f, 0, 0, 0, 2.5f, 1, 0, 2, 1}));
  }
}

TEST(VoxelizeHashTable, UnfilledPlacesAreZeroAndNoPointsAreLegal) {
  Tensor voxel_points, indices, counts, ids;
  const Tensor point = Tensor::from<float>({1, 4}, std::vector<float>{1, 1, 1, 9});
  cpu::kVoxelizeHashTable.run({point, kGrid, 2, 5, &voxel_points, &indices, &counts, &ids, 1});
  EXPECT_EQ(values<float>(voxel_points), (std::vector<float>{1, 1, 1, 9, 0, 0, 0, 0}));
  cpu::kVoxelizeHashTable.run(
      {Tensor::empty({0, 4}, DType::kF32), kGrid, 2, 5, &voxel_points, &indices, &counts, &ids, 1});
  EXPECT_EQ(voxel_points.shape(), Dims({0, 2, 4}));
  EXPECT_EQ(indices.shape(), Dims({0, 3}));
}

TEST(VoxelizeReduceHashTable, RowsAreSortedAndMeansExact) {
  const Tensor points = Tensor::from<float>(
      {4, 4}, std::vector<float>{3, 2, 1, 8, 0, 0, 0, 1, 3.5f, 2.5f, 1.5f, 4, 9, 9, 9, 9});
  Tensor features, indices, counts, ids;
  cpu::kVoxelizeReduceHashTable.run({points, kGrid, &features, &indices, &counts, &ids, 2});
  EXPECT_EQ(values<std::int64_t>(ids), (std::vector<std::int64_t>{1, 0, 1, -1}));
  EXPECT_EQ(values<std::int32_t>(indices), (std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(values<std::int32_t>(counts), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(values<float>(features), (std::vector<float>{0, 0, 0, 1, 3.25f, 2.25f, 1.25f, 6}));
}

}  // namespace
}  // namespace aerogel
