// Surface voxelization: each triangle halves the box of cells around it, along its longest side, and follows
// the halves that it meets. That costs a few tests a touched cell, however large the triangle and however it
// lies.
#include <cmath>
#include <compare>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/voxelize.h"

#include "core/parallel.h"
#include "ops/checks.h"
#include "ops/run_op.h"
#include "ops/triangle_box.h"

namespace aerogel {
namespace {

constexpr std::string_view kOp = "voxelize_mesh";
constexpr double kMostCells = 1099511627776.0;  // 2^40: beyond, a double tells cells apart less and less

struct Cell {
  std::int32_t z, y, x;
  auto operator<=>(const Cell&) const = default;  // NOLINT(modernize-use-nullptr): what it expands to
};

/// Cells [lo, hi) along x, y, z.
struct CellBox {
  std::array<std::int64_t, 3> lo;
  std::array<std::int64_t, 3> hi;
  std::int64_t side(std::size_t axis) const { return hi[axis] - lo[axis]; }
};

void check_mesh(const Tensor& vertices, const Tensor& faces) {
  const bool good_vertices = vertices.shape().size() == 2 && vertices.size(1) == 3 && vertices.has_data() &&
                             (vertices.dtype() == DType::kF32 || vertices.dtype() == DType::kF64);
  if (!good_vertices) {
    throw InvalidArgument(
        fmt::format("[{}] vertices expected f32 or f64 [V, 3], got {}", kOp, vertices.str()));
  }
  const bool good_faces = faces.shape().size() == 2 && faces.size(1) == 3 && faces.has_data() &&
                          (faces.dtype() == DType::kI32 || faces.dtype() == DType::kI64);
  if (!good_faces)
    throw InvalidArgument(fmt::format("[{}] faces expected i32 or i64 [F, 3], got {}", kOp, faces.str()));
}

/// Row `row` of the vertices in cells of the grid.
Vec3d in_cells(const double* vertices, std::int64_t row, const VoxelGrid& grid) {
  Vec3d cells;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    cells[axis] = (vertices[row * 3 + static_cast<std::int64_t>(axis)] - static_cast<double>(grid.lo[axis])) /
                  static_cast<double>(grid.size[axis]);
  }
  return cells;
}

void check_faces(const double* vertices, std::int64_t count, const std::int64_t* faces,
                 std::int64_t triangles, const VoxelGrid& grid) {
  for (std::int64_t i = 0; i < triangles * 3; ++i) {
    const std::int64_t row = faces[i];
    if (row < 0 || row >= count) {
      throw InvalidArgument(
          fmt::format("[{}] face {} names vertex {}, expected 0 to {}", kOp, i / 3, row, count - 1));
    }
    if (const Vec3d cells = in_cells(vertices, row, grid);
        !(largest(cells) <= kMostCells && !std::isnan(dot(cells, {1, 1, 1})))) {
      throw InvalidArgument(fmt::format(
          "[{}] face {} has a corner that is not finite or over 2^40 cells away: vertex {} at ({}, {}, {})",
          kOp, i / 3, row, vertices[row * 3], vertices[row * 3 + 1], vertices[row * 3 + 2]));
    }
  }
}

/// The cells of the grid whose closed boxes meet the triangle's bounding box; empty where none does.
CellBox cells_around(const Triangle& triangle, const Dims& zyx) {
  CellBox box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto [least, most] =
        std::minmax({triangle.corners[0][axis], triangle.corners[1][axis], triangle.corners[2][axis]});
    const std::int64_t extent = zyx[2 - static_cast<int>(axis)];
    // A corner on a boundary touches the cells on both sides of it.
    box.lo[axis] = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(least)) - 1, 0, extent);
    box.hi[axis] = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(most)) + 1, 0, extent);
  }
  return box;
}

void visit(const Triangle& triangle, const CellBox& box, std::vector<Cell>& cells) {
  std::size_t axis = 0;
  Vec3d centre;
  Vec3d half;
  for (std::size_t i = 0; i < 3; ++i) {
    if (box.side(i) <= 0) return;
    if (box.side(i) > box.side(axis)) axis = i;
    half[i] = static_cast<double>(box.side(i)) / 2;
    centre[i] = static_cast<double>(box.lo[i]) + half[i];
  }
  const bool single = box.side(axis) == 1;
  if (!overlaps(triangle, centre, half, single ? Rounding::kNearest : Rounding::kIncluded)) return;
  if (single) {
    cells.push_back({static_cast<std::int32_t>(box.lo[2]), static_cast<std::int32_t>(box.lo[1]),
                     static_cast<std::int32_t>(box.lo[0])});
    return;
  }
  CellBox below = box;
  CellBox above = box;
  below.hi[axis] = above.lo[axis] = box.lo[axis] + box.side(axis) / 2;
  visit(triangle, below, cells);
  visit(triangle, above, cells);
}

void keep_distinct(std::vector<Cell>& cells) {
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
}

}  // namespace

Coordinates voxelize_mesh(const Tensor& vertices, const Tensor& faces, const VoxelGrid& grid,
                          const ExecOptions& exec) {
  refuse_dry_run(kOp, exec);
  const Stopwatch watch;
  check_mesh(vertices, faces);
  const Dims zyx = grid.spatial_shape();
  const Tensor points = vertices.to(DType::kF64);
  const Tensor corners = faces.to(DType::kI64);
  const std::int64_t triangles = corners.size(0);
  const double* point = points.data<double>();
  const std::int64_t* corner = corners.data<std::int64_t>();
  check_faces(point, points.size(0), corner, triangles, grid);

  constexpr std::int64_t kGrain = 256;
  std::vector<std::vector<Cell>> found(static_cast<std::size_t>((triangles + kGrain - 1) / kGrain));
  parallel_chunks(triangles, kGrain, exec.threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Cell>& cells = found[static_cast<std::size_t>(begin / kGrain)];
    for (std::int64_t i = begin; i < end; ++i) {
      const Triangle triangle({in_cells(point, corner[i * 3], grid), in_cells(point, corner[i * 3 + 1], grid),
                               in_cells(point, corner[i * 3 + 2], grid)});
      visit(triangle, cells_around(triangle, zyx), cells);
    }
    keep_distinct(cells);
  });
  std::vector<Cell> cells;
  for (std::vector<Cell>& part : found) {
    cells.insert(cells.end(), part.begin(), part.end());
    part = {};
  }
  keep_distinct(cells);
  if (cells.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InvalidArgument(
        fmt::format("[{}] {} voxels are more than a coordinate set holds", kOp, cells.size()));
  }

  const auto sites = static_cast<std::int64_t>(cells.size());
  const Tensor indices = Tensor::empty({sites, 4}, DType::kI32, exec);
  auto* row = indices.mutable_data<std::int32_t>();
  for (const Cell& cell : cells) {
    *row++ = 0;
    *row++ = cell.z;
    *row++ = cell.y;
    *row++ = cell.x;
  }
  OpRecord record;
  record.op = kOp;
  record.problem = fmt::format("{}:triangles={}:shape={}", kOp, triangles, zyx.joined('x'));
  record.sites_in = triangles;
  record.sites_out = sites;
  record.run_ms = watch.ms();
  observe(exec, record);
  return Coordinates::adopt_sorted(indices, zyx, 1, {1, 1, 1});
}

}  // namespace aerogel
