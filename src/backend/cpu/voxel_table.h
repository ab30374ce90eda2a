// What voxelizers and the way back to points share: the cell of a point, and an open-addressing table from
// cell to voxel number.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backend/kernel.h"
#include "core/feature_types.h"
#include "core/half.h"
#include "core/parallel.h"

namespace aerogel::cpu {

struct VoxelCell {
  std::int32_t z = -1;  // −1: the point is outside the grid
  std::int32_t y = 0;
  std::int32_t x = 0;
  bool operator==(const VoxelCell&) const = default;
};

/// index = floor((p − lo) / size) in f32, inside 0 … extent − 1 on every axis.
template <class T>
VoxelCell cell_of_point(const T* point, const GridNumbers& grid) {
  std::int32_t index[3];
  for (int axis = 0; axis < 3; ++axis) {
    const float at = std::floor((to_f32(point[axis]) - grid.lo[axis]) / grid.size[axis]);
    if (!(at >= 0.0f && at < static_cast<float>(grid.extent[axis]))) return {};
    index[axis] = static_cast<std::int32_t>(at);
  }
  return {index[2], index[1], index[0]};
}

/// The cell of every point.
inline std::vector<VoxelCell> cells_of_points(const Tensor& points, const GridNumbers& grid, int threads) {
  constexpr std::int64_t kChunkPoints = 8192;
  const std::int64_t width = points.size(1);
  std::vector<VoxelCell> cells(static_cast<std::size_t>(points.size(0)));
  with_feature_type(points.dtype(), [&]<class T>(T) {
    const T* data = points.data<T>();
    parallel_chunks(points.size(0), kChunkPoints, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) cells[p] = cell_of_point(data + p * width, grid);
    });
  });
  return cells;
}

/// Numbers cells in first-seen order. Linear probing at a load of at most one half.
class VoxelTable {
 public:
  explicit VoxelTable(std::int64_t most_voxels)
      : slots_(std::bit_ceil(static_cast<std::uint64_t>(2 * std::max<std::int64_t>(most_voxels, 1))), -1) {}

  /// The number of `cell`; a new cell gets the next one, or −1 if there are `cap` already.
  std::int32_t find_or_add(const VoxelCell& cell, std::int64_t cap) {
    const std::uint64_t mask = slots_.size() - 1;
    for (std::uint64_t slot = hash(cell) & mask;; slot = (slot + 1) & mask) {
      const std::int32_t voxel = slots_[slot];
      if (voxel < 0) {
        if (std::ssize(cells_) >= cap) return -1;
        slots_[slot] = static_cast<std::int32_t>(cells_.size());
        cells_.push_back(cell);
        return slots_[slot];
      }
      if (cells_[static_cast<std::size_t>(voxel)] == cell) return voxel;
    }
  }

  /// The number of `cell`, or −1.
  std::int32_t find(const VoxelCell& cell) const {
    const std::uint64_t mask = slots_.size() - 1;
    for (std::uint64_t slot = hash(cell) & mask;; slot = (slot + 1) & mask) {
      const std::int32_t voxel = slots_[slot];
      if (voxel < 0 || cells_[static_cast<std::size_t>(voxel)] == cell) return voxel;
    }
  }

  const std::vector<VoxelCell>& cells() const { return cells_; }

 private:
  static std::uint64_t hash(const VoxelCell& cell) {  // the finisher of SplitMix64 over the three columns
    std::uint64_t h = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(cell.z)) << 32) ^
                      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(cell.y)) * 0x9E3779B97F4A7C15u) ^
                      static_cast<std::uint32_t>(cell.x);
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
  }

  std::vector<std::int32_t> slots_;  // voxel number or −1
  std::vector<VoxelCell> cells_;     // [voxels]
};

/// Voxel numbers are 32-bit.
template <class Args>
std::string supports_fewer_than_2_31_points(const Args& args) {
  return args.points.size(0) < (std::int64_t{1} << 31) ? "" : "2^31 points or more";
}

}  // namespace aerogel::cpu
