#include "aerogel/ops/voxelize.h"

#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "core/feature_types.h"
#include "core/half.h"
#include "ops/checks.h"
#include "ops/run_op.h"

namespace aerogel {
namespace {

/// [P, F ≥ 3], every coordinate finite.
template <class T>
void check_points(std::string_view op, const Tensor& points) {
  const std::int64_t width = points.size(1);
  if (width < 3) throw InvalidArgument(fmt::format("[{}] points need x, y, z, got {}", op, points.str()));
  const T* values = points.data<T>();
  for (std::int64_t p = 0; p < points.size(0); ++p) {
    const float xyz[] = {to_f32(values[p * width]), to_f32(values[p * width + 1]),
                         to_f32(values[p * width + 2])};
    if (!std::isfinite(xyz[0]) || !std::isfinite(xyz[1]) || !std::isfinite(xyz[2])) {
      throw InvalidArgument(fmt::format("[{}] row {} has a coordinate that is not finite: ({}, {}, {})", op,
                                        p, xyz[0], xyz[1], xyz[2]));
    }
  }
}

GridNumbers numbers_of(const VoxelGrid& grid) {
  const Dims zyx = grid.spatial_shape();
  GridNumbers numbers{};
  for (int axis = 0; axis < 3; ++axis) {
    numbers.lo[axis] = grid.lo[axis];
    numbers.size[axis] = grid.size[axis];
    numbers.extent[axis] = static_cast<std::int32_t>(zyx[2 - axis]);
  }
  return numbers;
}

OpRecord points_record(std::string_view op, const Tensor& points) {
  OpRecord record;
  record.op = op;
  record.problem = fmt::format("{}:points={}:c={}:dtype={}", op, points.size(0), points.size(1),
                               dtype_name(points.dtype()));
  record.sites_in = points.size(0);
  record.c_in = record.c_out = points.size(1);
  return record;
}

ReducedVoxels run_voxelize(std::string_view op, const Tensor& points, const VoxelGrid& grid, Reduce reduce,
                           const ExecOptions& exec) {
  refuse_dry_run(op, exec);
  const Tensor packed = points.contiguous();
  check_features(op, "points", packed, {-1, -1});
  with_feature_type(packed.dtype(), [&]<class T>(T) { check_points<T>(op, packed); });
  ReducedVoxels result;
  Tensor indices;
  VoxelizeReduceArgs args;
  args.points = packed;
  args.grid = numbers_of(grid);
  args.reduce = reduce;
  args.features = &result.voxels.features;
  args.indices = &indices;
  args.points_per_voxel = &result.points_per_voxel;
  args.point_voxel = &result.point_voxel;
  OpRecord record = points_record(op, packed);
  run_op<VoxelizeReduceArgs>("voxelize_reduce", &KernelTables::voxelize_reduce, args, exec, record);
  result.voxels.coordinates = Coordinates::adopt_sorted(indices, grid.spatial_shape(), 1, {1, 1, 1});
  record.sites_out = indices.size(0);
  record.out = result.voxels.features;
  observe(exec, record);
  return result;
}

}  // namespace

Dims VoxelGrid::spatial_shape() const {
  Dims shape = Dims::filled(3, 0);
  for (int axis = 0; axis < 3; ++axis) {
    // f32 throughout, as interfaces decided: the same number of cells on every machine.
    const float cells = std::round((hi[axis] - lo[axis]) / size[axis]);
    if (!(size[axis] > 0) || !std::isfinite(lo[axis]) || !std::isfinite(hi[axis]) || !(cells >= 1) ||
        cells > 2147483520.0f) {  // the largest float below 2^31
      throw InvalidArgument(fmt::format(
          "[voxel_grid] axis {} needs a positive size and 1 to 2147483520 cells, got {} to {} in steps of {}",
          "xyz"[axis], lo[axis], hi[axis], size[axis]));
    }
    shape[2 - axis] = static_cast<std::int64_t>(cells);
  }
  return shape;
}

Voxels voxelize(const Tensor& points, const VoxelGrid& grid, const VoxelCaps& caps, const ExecOptions& exec) {
  constexpr std::string_view kOp = "voxelize";
  refuse_dry_run(kOp, exec);
  const Tensor packed = points.contiguous();
  check_f32(kOp, "points", packed, {-1, -1});
  check_points<float>(kOp, packed);
  if (caps.max_points < 1 || caps.max_voxels < 1 ||
      caps.max_points > std::numeric_limits<std::int32_t>::max() ||
      caps.max_voxels > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(
        fmt::format("[voxelize] caps must be 1 to 2147483647, got max_points {} and max_voxels {}",
                    caps.max_points, caps.max_voxels));
  }
  Voxels voxels;
  VoxelizeArgs args;
  args.points = packed;
  args.grid = numbers_of(grid);
  args.max_points = caps.max_points;
  args.max_voxels = caps.max_voxels;
  args.voxel_points = &voxels.points;
  args.indices = &voxels.indices;
  args.points_per_voxel = &voxels.points_per_voxel;
  args.point_voxel = &voxels.point_voxel;
  OpRecord record = points_record(kOp, packed);
  run_op<VoxelizeArgs>(kOp, &KernelTables::voxelize, args, exec, record);
  record.sites_out = voxels.indices.size(0);
  record.out = voxels.points;
  observe(exec, record);
  return voxels;
}

MeanVoxels voxelize_mean(const Tensor& points, const VoxelGrid& grid, const ExecOptions& exec) {
  return run_voxelize("voxelize_mean", points, grid, Reduce::kMean, exec);
}

ReducedVoxels voxelize_reduce(const Tensor& points, const VoxelGrid& grid, Reduce reduce,
                              const ExecOptions& exec) {
  return run_voxelize("voxelize_reduce", points, grid, reduce, exec);
}

Tensor devoxelize_nearest(const Tensor& features, const Tensor& point_voxel, const ExecOptions& exec) {
  constexpr std::string_view kOp = "devoxelize_nearest";
  check_features(kOp, "features", features, {-1, -1});
  if (!point_voxel.defined() || point_voxel.dtype() != DType::kI64 || point_voxel.shape().size() != 1) {
    throw InvalidArgument(fmt::format("[{}] point_voxel must be i64 [P], got {}", kOp, point_voxel.str()));
  }
  GatherRowsArgs args;
  args.in = features.contiguous();
  args.ids = point_voxel.contiguous();
  for (std::int64_t p = 0; p < args.ids.size(0); ++p) {
    const std::int64_t id = args.ids.data<std::int64_t>()[p];
    if (id < -1 || id >= features.size(0)) {
      throw InvalidArgument(
          fmt::format("[{}] point {} has voxel id {}, expected -1 to {}", kOp, p, id, features.size(0) - 1));
    }
  }
  args.out = Tensor::empty({args.ids.size(0), features.size(1)}, features.dtype(), exec);
  OpRecord record = points_record(kOp, args.out);
  run_op<GatherRowsArgs>("gather_rows", &KernelTables::gather_rows, args, exec, record);
  record.sites_out = args.ids.size(0);
  record.out = args.out;
  observe(exec, record);
  return args.out;
}

Tensor devoxelize_trilinear(const SparseTensor& voxels, const Tensor& points, const VoxelGrid& grid,
                            const ExecOptions& exec) {
  constexpr std::string_view kOp = "devoxelize_trilinear";
  check_sparse(kOp, voxels);
  const Coordinates& set = voxels.coordinates;
  if (set.ndim() != 3 || set.batch_size() != 1) {
    throw InvalidArgument(fmt::format("[{}] expected 3 spatial columns and batch size 1, got {} and {}", kOp,
                                      set.ndim(), set.batch_size()));
  }
  TrilinearArgs args;
  args.points = points.contiguous();
  check_f32(kOp, "points", args.points, {-1, -1});
  check_points<float>(kOp, args.points);
  args.coordinates = set;
  args.in = voxels.features.contiguous();
  args.grid = numbers_of(grid);
  args.out = Tensor::empty({points.size(0), voxels.channels()}, voxels.features.dtype(), exec);
  OpRecord record = points_record(kOp, args.out);
  record.sites_in = set.size();
  run_op<TrilinearArgs>("trilinear", &KernelTables::trilinear, args, exec, record);
  record.sites_out = points.size(0);
  record.out = args.out;
  observe(exec, record);
  return args.out;
}

}  // namespace aerogel
