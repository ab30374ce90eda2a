// Both voxelizers by an ordered map from cell to voxel. index = floor((p − lo) / size) in f32 arithmetic.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "backend/reference/kernels_of.h"
#include "core/feature_types.h"
#include "core/half.h"

namespace aerogel::reference {
namespace {

using Cell = std::array<std::int32_t, 3>;  // z, y, x

template <class T>
std::optional<Cell> cell_of(const T* point, const GridNumbers& grid) {
  Cell cell{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float index = std::floor((to_f32(point[axis]) - grid.lo[axis]) / grid.size[axis]);
    if (!(index >= 0.0f && index < static_cast<float>(grid.extent[axis]))) return std::nullopt;
    cell[2 - axis] = static_cast<std::int32_t>(index);
  }
  return cell;
}

}  // namespace

void voxelize(const VoxelizeArgs& args) {
  const std::int64_t count = args.points.size(0);
  const std::int64_t width = args.points.size(1);
  std::map<Cell, std::int64_t> voxel_of;
  std::vector<Cell> cells;
  std::vector<std::int32_t> counts;
  std::vector<float> stored;  // [N, max_points, F]
  *args.point_voxel = Tensor::empty({count}, DType::kI64);
  for (std::int64_t p = 0; p < count; ++p) {
    const float* point = args.points.data<float>() + p * width;
    std::int64_t& id = args.point_voxel->mutable_data<std::int64_t>()[p];
    id = -1;
    const std::optional<Cell> cell = cell_of(point, args.grid);
    if (!cell) continue;
    auto found = voxel_of.find(*cell);
    if (found == voxel_of.end()) {
      if (static_cast<std::int64_t>(cells.size()) >= args.max_voxels) continue;
      found = voxel_of.emplace(*cell, static_cast<std::int64_t>(cells.size())).first;
      cells.push_back(*cell);
      counts.push_back(0);
      stored.resize(stored.size() + static_cast<std::size_t>(args.max_points * width), 0.0f);
    }
    id = found->second;
    std::int32_t& filled = counts[static_cast<std::size_t>(id)];
    if (filled >= args.max_points) continue;
    std::copy_n(point, width, stored.begin() + (id * args.max_points + filled) * width);
    ++filled;
  }
  const auto n = static_cast<std::int64_t>(cells.size());
  *args.voxel_points = Tensor::from<float>({n, args.max_points, width}, stored);
  *args.points_per_voxel = Tensor::from<std::int32_t>({n}, counts);
  *args.indices = Tensor::empty({n, 3}, DType::kI32);
  for (std::int64_t i = 0; i < n; ++i) {
    std::copy_n(cells[static_cast<std::size_t>(i)].begin(), 3,
                args.indices->mutable_data<std::int32_t>() + i * 3);
  }
}

namespace {

double reduced(Reduce reduce, const std::vector<double>& values) {
  if (reduce == Reduce::kFirst) return values[0];
  double result = reduce == Reduce::kMax ? values[0] : 0.0;
  for (const double value : values) {
    if (reduce != Reduce::kMax) result += value;
    if (reduce == Reduce::kMax && (value > result || value != value)) result = value;
  }
  return reduce == Reduce::kMean ? result / static_cast<double>(values.size()) : result;
}

template <class T>
void voxelize_reduce_of(const VoxelizeReduceArgs& args) {
  const std::int64_t count = args.points.size(0);
  const std::int64_t width = args.points.size(1);
  std::map<Cell, std::vector<std::int64_t>> points_of;
  for (std::int64_t p = 0; p < count; ++p) {
    if (const auto cell = cell_of(args.points.data<T>() + p * width, args.grid))
      points_of[*cell].push_back(p);
  }
  const auto n = static_cast<std::int64_t>(points_of.size());
  *args.features = Tensor::empty({n, width}, dtype_of<T>);
  *args.indices = Tensor::empty({n, 4}, DType::kI32);
  *args.points_per_voxel = Tensor::empty({n}, DType::kI32);
  *args.point_voxel = Tensor::empty({count}, DType::kI64);
  std::fill_n(args.point_voxel->mutable_data<std::int64_t>(), count, -1);
  std::int64_t row = 0;
  for (const auto& [cell, points] : points_of) {
    for (std::int64_t f = 0; f < width; ++f) {
      std::vector<double> column;
      for (std::int64_t p : points) column.push_back(to_f32(args.points.data<T>()[p * width + f]));
      args.features->mutable_data<T>()[row * width + f] = round_to<T>(reduced(args.reduce, column));
    }
    for (std::int64_t p : points) args.point_voxel->mutable_data<std::int64_t>()[p] = row;
    auto* site = args.indices->mutable_data<std::int32_t>() + row * 4;
    site[0] = 0;
    std::copy_n(cell.begin(), 3, site + 1);
    args.points_per_voxel->mutable_data<std::int32_t>()[row] = static_cast<std::int32_t>(points.size());
    ++row;
  }
}

}  // namespace

void voxelize_reduce(const VoxelizeReduceArgs& args) {
  with_feature_type(args.points.dtype(), [&]<class T>(T) { voxelize_reduce_of<T>(args); });
}

}  // namespace aerogel::reference
