// Points to voxels and back. Points carry x, y, z in their first three columns, metres.
#pragma once

#include <cstdint>

#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// A regular grid over a box. index = floor((p − lo) / size) and grid = round((hi − lo) / size), halves away
/// from zero, both in f32; an index outside 0 … grid−1 drops the point.
struct VoxelGrid {
  float lo[3] = {0, 0, 0};    ///< x, y, z
  float hi[3] = {1, 1, 1};    ///< x, y, z
  float size[3] = {1, 1, 1};  ///< x, y, z

  /// (z, y, x) extents. InvalidArgument if a size is not positive, a bound is not finite or the grid is empty
  /// or past 2^31 − 1 cells on an axis.
  Dims spatial_shape() const;
};

/// Points kept per voxel, and which voxel each point fell into.
struct Voxels {
  Tensor points;            ///< [N, max_points, F] f32, zero-padded
  Tensor indices;           ///< [N, 3] i32 (z, y, x)
  Tensor points_per_voxel;  ///< [N] i32, at most max_points
  Tensor point_voxel;       ///< [P] i64, −1 = dropped
};

struct VoxelCaps {
  std::int64_t max_points = 32;  ///< per voxel: a later point keeps its voxel's id but is not stored
  std::int64_t max_voxels =
      40000;  ///< a new voxel past the cap gives id −1; existing voxels still take points
};

/// Capped voxelizer: voxels in first-seen order.
///
///   points   [P, F ≥ 3]  f32   x, y, z first
///   throws   InvalidArgument   a NaN or infinite coordinate (names the first row), F < 3, caps below 1
///   cost     O(P)
///   source   the capped voxelizer of VoxelNet's implementations (spconv's PointToVoxel, OpenPCDet)
Voxels voxelize(const Tensor& points, const VoxelGrid& grid, const VoxelCaps& caps,
                const ExecOptions& exec = {});

/// All points of each voxel made one row (f32, f16 or bf16, as the points are; sums are f64), and which row
/// each point went to.
struct ReducedVoxels {
  SparseTensor voxels;      ///< features [N, F], sites (0, z, y, x) sorted, batch size 1
  Tensor point_voxel;       ///< [P] i64 row in `voxels`, −1 = outside the grid
  Tensor points_per_voxel;  ///< [N] i32
};
using MeanVoxels = ReducedVoxels;

/// Mean voxelizer: all points of a voxel, sums in double in point order, rows sorted.
///
///   points   [P, F ≥ 3]  f32, f16 or bf16   x, y, z first
///   throws   InvalidArgument   a NaN or infinite coordinate (names the first row), F < 3
///   cost     O(P) and one sort of the N voxels
MeanVoxels voxelize_mean(const Tensor& points, const VoxelGrid& grid, const ExecOptions& exec = {});

/// Uncapped voxelizer: the mean, maximum, sum or first (in point order) of each column over a voxel's points.
///
///   points   [P, F ≥ 3]  f32, f16, bf16   x, y, z first
///   throws   InvalidArgument   as voxelize
///   cost     O(P), and a sort of the voxels
ReducedVoxels voxelize_reduce(const Tensor& points, const VoxelGrid& grid, Reduce reduce,
                              const ExecOptions& exec = {});

/// Each point's voxel features: out[p, :] = features[point_voxel[p], :], zeros where the id is −1.
///
///   features     [N, C]   f32, f16 or bf16
///   point_voxel  [P]      i64   as a voxelizer gave it
///   returns      [P, C]   of that dtype
///   throws       InvalidArgument   an id that is not in −1 … N−1
///   cost         one copy of P · C
Tensor devoxelize_nearest(const Tensor& features, const Tensor& point_voxel, const ExecOptions& exec = {});

/// Each point's features between voxels: trilinear in the eight sites whose centres surround it, index i at
/// lo + (i + 0.5) · size. Corners that are not sites are left out and the other weights divided by their sum;
/// without any corner of positive weight the row is 0.
///
///   voxels   features [N, C]  f32, f16, bf16; sites (0, z, y, x) of `grid`, batch size 1
///   points   [P, F ≥ 3]       f32, x, y, z first, metres; may lie outside the grid
///   returns  [P, C]           the features' dtype
///   throws   InvalidArgument  as voxelize; other than 3 columns; batch size
///   cost     eight look-ups and rows a point
Tensor devoxelize_trilinear(const SparseTensor& voxels, const Tensor& points, const VoxelGrid& grid,
                            const ExecOptions& exec = {});

/// The voxels that the surface of a mesh touches: those whose closed box meets a triangle, its inside, edges
/// and corners included. A triangle in the plane between two voxels therefore touches both. What lies outside
/// the grid is cut off.
///
///   vertices  [V, 3]  f32 or f64   x, y, z
///   faces     [F, 3]  i32 or i64   rows of `vertices`; triangles without area count as the segments they are
///   returns   sites (0, z, y, x), sorted, batch size 1, extents of the grid
///   throws    InvalidArgument      other shapes or dtypes; a face that names no vertex, and a vertex of a
///   face
///             that is not finite or more than 2^40 cells away from the grid (names the first row)
///   numbers   coordinates become cells in double, (p - lo) / size; the overlap test is the separating-axis
///             theorem, exact up to the rounding of double, and the same bits for any number of threads
///   cost      O(touched voxels · log grid), over threads by triangles
///   source    Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", 2001
Coordinates voxelize_mesh(const Tensor& vertices, const Tensor& faces, const VoxelGrid& grid,
                          const ExecOptions& exec = {});

}  // namespace aerogel
