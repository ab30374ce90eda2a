#include <array>
#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/ops/voxelize.h"
#include "aerogel/plan.h"

#include "ops/triangle_box.h"

namespace aerogel {
namespace {

using Cell = std::array<std::int32_t, 3>;  // z, y, x

VoxelGrid unit_grid(float x, float y, float z) {
  VoxelGrid grid;
  grid.hi[0] = x;
  grid.hi[1] = y;
  grid.hi[2] = z;
  return grid;
}

Tensor rows(const std::vector<double>& values) {
  return Tensor::from<double>({static_cast<std::int64_t>(values.size() / 3), 3}, values);
}
Tensor faces(const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>({static_cast<std::int64_t>(values.size() / 3), 3}, values);
}

/// The sites as a set; checks that they are sorted and in range.
std::set<Cell> cells_of(const Coordinates& sites) {
  std::set<Cell> cells;
  Cell last = {-1, -1, -1};
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    const std::int32_t* row = sites.row(i);
    const Cell cell = {row[1], row[2], row[3]};
    EXPECT_EQ(row[0], 0);
    EXPECT_LT(last, cell) << i;
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_LT(cell[static_cast<std::size_t>(axis)], sites.spatial_shape()[axis]);
    last = cell;
    cells.insert(cell);
  }
  return cells;
}

TEST(VoxelizeMesh, ATriangleInsideOneCell) {
  const auto cells = cells_of(voxelize_mesh(rows({1.2, 2.2, 0.2, 1.8, 2.2, 0.2, 1.2, 2.8, 0.7}),
                                            faces({0, 1, 2}), unit_grid(4, 4, 4)));
  EXPECT_EQ(cells, (std::set<Cell>{{0, 2, 1}}));
}

TEST(VoxelizeMesh, APlaneBetweenCellsTouchesBoth) {
  // The square (0, 0) to (2, 2) at z = 1: its edges on cell boundaries touch the cells outside too.
  const auto cells = cells_of(voxelize_mesh(rows({1, 1, 1, 2, 1, 1, 2, 2, 1, 1, 2, 1}),
                                            faces({0, 1, 2, 0, 2, 3}), unit_grid(4, 4, 4)));
  std::set<Cell> expected;
  for (std::int32_t z = 0; z < 2; ++z) {
    for (std::int32_t y = 0; y < 3; ++y) {
      for (std::int32_t x = 0; x < 3; ++x) expected.insert({z, y, x});
    }
  }
  EXPECT_EQ(cells, expected);
}

TEST(VoxelizeMesh, ADiagonalTouchesCornersOnlyWhereItMeetsThem) {
  // The plane x + y + z = 1 meets exactly the cell at 0 and, in a corner or an edge, its neighbours.
  const auto cells =
      cells_of(voxelize_mesh(rows({1, 0, 0, 0, 1, 0, 0, 0, 1}), faces({0, 1, 2}), unit_grid(3, 3, 3)));
  EXPECT_TRUE(cells.contains({0, 0, 0}));
  EXPECT_TRUE(cells.contains({0, 0, 1}));  // shares the corner (1, 0, 0)
  EXPECT_TRUE(cells.contains({1, 0, 0}));
  EXPECT_FALSE(cells.contains({0, 1, 1}));  // its nearest corner (1, 1, 0) is off the plane
  EXPECT_EQ(cells.size(), 4u);
}

TEST(VoxelizeMesh, SegmentsAndPointsCountAsWhatTheyAre) {
  const VoxelGrid grid = unit_grid(8, 8, 8);
  const auto segment =
      cells_of(voxelize_mesh(rows({0.5, 0.5, 0.5, 3.5, 3.5, 3.5, 2, 2, 2}), faces({0, 1, 2}), grid));
  EXPECT_TRUE(segment.contains({3, 3, 3}));
  EXPECT_TRUE(segment.contains({0, 0, 0}));
  EXPECT_TRUE(segment.contains({0, 0, 1}));  // shares the corner (1, 1, 1)
  EXPECT_FALSE(segment.contains({0, 0, 2}));
  const auto point = cells_of(voxelize_mesh(rows({1.5, 2.5, 3.5}), faces({0, 0, 0}), grid));
  EXPECT_EQ(point, (std::set<Cell>{{3, 2, 1}}));
  const auto corner = cells_of(voxelize_mesh(rows({1, 2, 3}), faces({0, 0, 0}), grid));
  EXPECT_EQ(corner.size(), 8u);
}

TEST(VoxelizeMesh, CutsOffWhatLiesOutside) {
  const Tensor big = rows({-1e6, 0.5, -1e6, 1e6, 0.5, -1e6, 0, 0.5, 2e6});
  EXPECT_EQ(voxelize_mesh(big, faces({0, 1, 2}), unit_grid(5, 3, 4)).size(), 5 * 4);
  EXPECT_EQ(voxelize_mesh(rows({9, 9, 9, 9, 8, 9, 8, 9, 9}), faces({0, 1, 2}), unit_grid(5, 3, 4)).size(), 0);
  EXPECT_EQ(voxelize_mesh(Tensor::zeros({0, 3}, DType::kF64), Tensor::zeros({0, 3}, DType::kI64),
                          unit_grid(5, 3, 4))
                .size(),
            0);
}

TEST(VoxelizeMesh, TakesTheGridAndEveryDtype) {
  VoxelGrid grid;
  for (int axis = 0; axis < 3; ++axis) {
    grid.lo[axis] = -1;
    grid.hi[axis] = 1;
    grid.size[axis] = 0.25f;
  }
  const std::vector<float> values = {-0.9f, 0.1f, 0.6f};
  const std::vector<std::int32_t> face = {0, 0, 0};
  const auto cells = cells_of(
      voxelize_mesh(Tensor::from<float>({1, 3}, values), Tensor::from<std::int32_t>({1, 3}, face), grid));
  EXPECT_EQ(cells, (std::set<Cell>{{6, 4, 0}}));
}

/// Whether the triangle clipped by the six planes of the closed box leaves anything: another way to the
/// answer.
bool clip_leaves_something(const std::array<Vec3d, 3>& triangle, const Cell& cell, double margin) {
  std::vector<Vec3d> polygon(triangle.begin(), triangle.end());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const double side : {1.0, -1.0}) {
      const double bound = side > 0 ? cell[2 - axis] + 1 + margin : -(cell[2 - axis] - margin);
      std::vector<Vec3d> kept;
      for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Vec3d& a = polygon[i];
        const Vec3d& b = polygon[(i + 1) % polygon.size()];
        const double da = side * a[axis] - bound;
        const double db = side * b[axis] - bound;
        if (da <= 0) kept.push_back(a);
        if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
          const double t = da / (da - db);
          kept.push_back({a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])});
        }
      }
      polygon = kept;
      if (polygon.empty()) return false;
    }
  }
  return true;
}

TEST(VoxelizeMesh, AgreesWithEveryCellTestedAlone) {
  constexpr std::int32_t kExtent = 12;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> anywhere(-3, kExtent + 3);
  std::uniform_int_distribution<int> lattice(-2, 2 * kExtent + 2);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 9; ++i) {
      // Every third triangle on half cells, where surfaces run along boundaries; some of them slivers.
      values.push_back(trial % 3 == 0 ? lattice(random) / 2.0 : anywhere(random));
    }
    if (trial % 5 == 0) {
      for (std::size_t i = 0; i < 3; ++i)
        values[6 + i] = (values[i] + values[3 + i]) / 2 + 1e-9 * anywhere(random);
    }
    const auto found =
        cells_of(voxelize_mesh(rows(values), faces({0, 1, 2}), unit_grid(kExtent, kExtent, kExtent)));
    std::array<Vec3d, 3> corners;
    for (std::size_t i = 0; i < 9; ++i) corners[i / 3][i % 3] = values[i];
    const Triangle triangle(corners);
    for (std::int32_t z = 0; z < kExtent; ++z) {
      for (std::int32_t y = 0; y < kExtent; ++y) {
        for (std::int32_t x = 0; x < kExtent; ++x) {
          const Cell cell = {z, y, x};
          const bool is_found = found.contains(cell);
          ASSERT_EQ(is_found,
                    overlaps(triangle, {x + 0.5, y + 0.5, z + 0.5}, {0.5, 0.5, 0.5}, Rounding::kNearest))
              << "trial " << trial << " cell " << z << " " << y << " " << x;
          // Clipping decides the same but for a hair's breadth of rounding.
          if (clip_leaves_something(corners, cell, -1e-6)) {
            ASSERT_TRUE(is_found) << trial;
          }
          if (!clip_leaves_something(corners, cell, 1e-6)) {
            ASSERT_FALSE(is_found) << trial;
          }
        }
      }
    }
  }
}

TEST(VoxelizeMesh, IsTheSameForAnyNumberOfThreads) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> anywhere(0, 60);
  std::vector<double> values;
  std::vector<std::int64_t> face;
  for (std::int64_t i = 0; i < 3000; ++i) {
    for (int k = 0; k < 3; ++k) values.push_back(anywhere(random));
    face.push_back(i);
  }
  ExecOptions one;
  one.threads = 1;
  ExecOptions five;
  five.threads = 5;
  OpRecord record;
  five.observer = [&](const OpRecord& told) { record = told; };
  const Coordinates a = voxelize_mesh(rows(values), faces(face), unit_grid(60, 60, 60), one);
  const Coordinates b = voxelize_mesh(rows(values), faces(face), unit_grid(60, 60, 60), five);
  EXPECT_EQ(cells_of(a), cells_of(b));
  EXPECT_GT(a.size(), 10000);
  EXPECT_EQ(record.op, "voxelize_mesh");
  EXPECT_EQ(record.sites_out, b.size());
}

TEST(VoxelizeMesh, RefusesBadMeshes) {
  const VoxelGrid grid = unit_grid(4, 4, 4);
  const auto refuse = [&](const Tensor& vertices, const Tensor& corners, std::string_view part) {
    try {
      voxelize_mesh(vertices, corners, grid);
      ADD_FAILURE() << "expected InvalidArgument with " << part;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  };
  const Tensor good = rows({0, 0, 0, 1, 0, 0, 0, 1, 0});
  refuse(Tensor(), faces({0, 1, 2}), "vertices expected f32 or f64 [V, 3]");
  refuse(Tensor::zeros({3, 2}, DType::kF64), faces({0, 1, 2}), "got f64 [3, 2]");
  refuse(good, Tensor::zeros({1, 3}, DType::kF32), "faces expected i32 or i64 [F, 3], got f32 [1, 3]");
  refuse(good, faces({0, 1, 2, 0, 1, 3}), "face 1 names vertex 3, expected 0 to 2");
  refuse(good, faces({0, 1, -1}), "face 0 names vertex -1");
  refuse(rows({0, 0, 0, 1, 0, 0, 0, NAN, 0}), faces({0, 1, 2}), "face 0 has a corner that is not finite");
  refuse(rows({0, 0, 0, 1, 0, 0, 0, 0, 1e13}), faces({0, 1, 2}), "over 2^40 cells away: vertex 2");
  // A vertex that no face uses does not matter.
  EXPECT_GT(voxelize_mesh(rows({0, 0, 0, 1, 0, 0, 0, 1, 0, NAN, NAN, NAN}), faces({0, 1, 2}), grid).size(),
            0);
}

}  // namespace
}  // namespace aerogel
