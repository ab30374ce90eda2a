#include "surface.h"

#include <cmath>

#include <gtest/gtest.h>

#include "aerogel/error.h"

#include "grid_choice.h"
#include "unit/io/io_testing.h"

namespace aerogel::cli {
namespace {

/// Two triangles that make the rectangle (0, 0) to (4, 2) at height `z`, moved by `at`.
io::Mesh rectangle(double at, double z = 0) {
  io::Mesh mesh;
  const std::vector<double> vertices = {at, at, z, at + 4, at, z, at + 4, at + 2, z, at, at + 2, z};
  const std::vector<std::int64_t> faces = {0, 1, 2, 0, 2, 3};
  mesh.vertices = Tensor::from<double>({4, 3}, vertices);
  mesh.faces = Tensor::from<std::int64_t>({2, 3}, faces);
  return mesh;
}

TEST(Surface, HasResolutionCellsAlongTheLongestSide) {
  const Surface surface = voxelize_surface(rectangle(0), 8, {});
  EXPECT_EQ(surface.centres.rows(), 8 * 4);
  EXPECT_EQ(surface.grid.voxel, (std::array<double, 3>{0.5, 0.5, 0.5}));
  EXPECT_EQ(surface.centres.columns[0][0], 0.25);
  EXPECT_EQ(surface.centres.columns[2][0], 0.25);
  EXPECT_EQ(surface.grid.lo, (std::array<double, 3>{0, -1, -1.5}));
  EXPECT_EQ(surface.grid.hi, (std::array<double, 3>{4, 3, 2.5}));
  EXPECT_NE(surface.note.find("2 triangles touches 32 voxels, 8 along"), std::string::npos) << surface.note;
}

TEST(Surface, TakesAVoxelAndTheCellsOfARange) {
  GridRequest request;
  request.voxel = "1,0.5,1";
  EXPECT_EQ(voxelize_surface(rectangle(0.25), 8, request).centres.rows(), 4 * 4);
  request.range = "0,0,0,8,8,8";  // the rectangle now lies across one cell more along each side
  const Surface aligned = voxelize_surface(rectangle(0.25, 0.25), 8, request);
  EXPECT_EQ(aligned.centres.rows(), 5 * 5);
  EXPECT_EQ(aligned.centres.columns[0][0], 0.5);
  EXPECT_EQ(aligned.centres.columns[1][0], 0.25);
}

TEST(Surface, LeavesOutFacesThatAreNotFinite) {
  io::Mesh mesh = rectangle(0);
  mesh.vertices.mutable_data<double>()[3 * 3] = NAN;  // of the second face only
  const Surface surface = voxelize_surface(mesh, 8, {});
  EXPECT_EQ(surface.faces_not_finite, 1);
  EXPECT_GT(surface.centres.rows(), 0);
  EXPECT_LT(surface.centres.rows(), 8 * 4);
}

TEST(Surface, RefusesTooManyCells) {
  EXPECT_THROW(voxelize_surface(rectangle(0), 0, {}), InvalidArgument);
  GridRequest request;
  request.voxel = "1e-10";
  EXPECT_THROW(voxelize_surface(rectangle(0), 8, request), InvalidArgument);
}

TEST(Surface, ReadsAsACloudOfCentres) {
  const io::ScratchFolder folder;
  const std::string path = (folder / "a.obj").string();
  // Far from the origin: the points and their grid are shifted alike.
  io::write_file(path, "v 500000 0 0\nv 500004 0 0\nv 500004 2 0\nf 1 2 3\n");
  CloudOptions options;
  options.resolution = 8;
  const Cloud cloud = read_cloud(path, {"x", "y", "z", "intensity"}, options);
  ASSERT_TRUE(cloud.own_grid.has_value());
  EXPECT_FALSE(cloud.surface.empty());
  EXPECT_EQ(cloud.missing, std::vector<std::string>{"intensity"});
  EXPECT_EQ(cloud.origin[0], 500000);
  EXPECT_EQ(cloud.own_grid->lo[0], 0);
  const GridChoice choice = choose_grid(cloud, nullptr, {});
  EXPECT_EQ(choice.grid.size[0], 0.5f);
  const MeanVoxels voxels = voxelize_mean(cloud.points, choice.grid);
  EXPECT_EQ(voxels.voxels.sites(), cloud.size());  // a point a voxel

  options.resolution = 0;
  EXPECT_EQ(read_cloud_all_columns(path, options).size(), 3);
}

TEST(Surface, TellsMeshesFromPoints) {
  const io::ScratchFolder folder;
  const std::string head =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string rows = "0 0 0\n1 0 0\n0 1 0\n";
  const std::string points = (folder / "points.ply").string();
  const std::string mesh = (folder / "mesh.PLY").string();
  io::write_file(points, head + "end_header\n" + rows);
  io::write_file(mesh, head + "element face 1\nproperty list uchar int vertex_indices\nend_header\n" + rows +
                           "3 0 1 2\n");
  EXPECT_FALSE(is_mesh_file(points));
  EXPECT_TRUE(is_mesh_file(mesh));
  EXPECT_TRUE(read_cloud_all_columns(points, {}).surface.empty());
  EXPECT_FALSE(read_cloud_all_columns(mesh, {}).surface.empty());
}

}  // namespace
}  // namespace aerogel::cli
