#include "surface.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "aerogel/error.h"
#include "aerogel/ops/voxelize.h"

#include "grid_choice.h"
#include "io/parsers.h"
#include "text.h"

namespace aerogel::cli {

namespace {

using Vec3 = std::array<double, 3>;

struct Box {
  Vec3 lo{};
  Vec3 hi{};
};

/// The faces whose corners are finite, and the box around them.
Tensor finite_faces(const io::Mesh& mesh, Box& box) {
  const auto* vertices = mesh.vertices.data<double>();
  const auto* faces = mesh.faces.data<std::int64_t>();
  std::vector<std::int64_t> kept;
  for (std::int64_t f = 0; f < mesh.faces.size(0); ++f) {
    const bool finite = std::all_of(faces + f * 3, faces + f * 3 + 3, [&](std::int64_t v) {
      return std::all_of(vertices + v * 3, vertices + v * 3 + 3, [](double c) { return std::isfinite(c); });
    });
    if (!finite) continue;
    for (std::int64_t k = 0; k < 3; ++k) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double c = vertices[faces[f * 3 + k] * 3 + static_cast<std::int64_t>(axis)];
        box.lo[axis] = kept.empty() ? c : std::min(box.lo[axis], c);
        box.hi[axis] = kept.empty() ? c : std::max(box.hi[axis], c);
      }
      kept.push_back(faces[f * 3 + k]);
    }
  }
  return Tensor::from<std::int64_t>({static_cast<std::int64_t>(kept.size() / 3), 3}, kept);
}

/// Cells along an axis from `lo` to `hi`, at least one.
std::int64_t count_cells(double lo, double hi, double voxel) {
  const double cells = std::ceil((hi - lo) / voxel * (1 - 1e-12));  // a whole number stays what it is
  if (!(cells < 2147483520.0)) {
    throw InvalidArgument(fmt::format("voxels of {} m make {:.4g} cells along a side of {} m, over 2^31 - 1",
                                      voxel, cells, hi - lo));
  }
  return std::max<std::int64_t>(static_cast<std::int64_t>(cells), 1);
}

}  // namespace

bool is_mesh_file(const std::string& source) {
  const std::string ending = io::lower_case(std::filesystem::path(source).extension().string());
  if (ending == ".ply") return io::ply_has_faces(io::read_file(source), source);
  const auto& known = io::mesh_endings();
  return std::find(known.begin(), known.end(), ending) != known.end();
}

io::PointTable vertex_table(const io::Mesh& mesh) {
  io::PointTable table;
  const auto add = [&](const char* name, DType dtype, const auto* values, std::size_t first) {
    table.names.emplace_back(name);
    table.dtypes.push_back(dtype);
    auto& column = table.columns.emplace_back();
    for (std::int64_t i = 0; i < mesh.vertices.size(0); ++i) {
      column.push_back(static_cast<double>(values[static_cast<std::size_t>(i) * 3 + first]));
    }
  };
  constexpr const char* kNames[] = {"x", "y", "z", "r", "g", "b"};
  for (std::size_t i = 0; i < 3; ++i) add(kNames[i], DType::kF64, mesh.vertices.data<double>(), i);
  for (std::size_t i = 0; mesh.colours.defined() && i < 3; ++i) {
    add(kNames[3 + i], DType::kF32, mesh.colours.data<float>(), i);
  }
  return table;
}

Surface voxelize_surface(const io::Mesh& mesh, std::int64_t resolution, const GridRequest& request) {
  Surface surface;
  Box box;
  const Tensor faces = finite_faces(mesh, box);
  surface.faces_not_finite = mesh.faces.size(0) - faces.size(0);
  double longest = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) longest = std::max(longest, box.hi[axis] - box.lo[axis]);
  if (resolution < 1) throw InvalidArgument(fmt::format("--resolution {}: must be 1 or more", resolution));
  if (!std::isfinite(longest)) throw InvalidArgument("the mesh is wider than a double holds");
  const double side = longest > 0 ? longest / static_cast<double>(resolution) : 1;
  surface.grid.voxel = request.voxel.empty() ? Vec3{side, side, side} : parse_voxel(request.voxel);

  std::array<std::int64_t, 3> cells{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double voxel = surface.grid.voxel[axis];
    if (!request.range.empty()) {  // the cells of that box, continued
      const double anchor = parse_numbers("--range", request.range, 6)[axis];
      box.lo[axis] = anchor + std::floor((box.lo[axis] - anchor) / voxel) * voxel;
    }
    cells[axis] = count_cells(box.lo[axis], box.hi[axis], voxel);
  }
  const std::int64_t most = *std::max_element(cells.begin(), cells.end());

  // In cells and in double, whatever the place and the size of the mesh.
  VoxelGrid grid;
  Tensor scaled = mesh.vertices.clone();
  auto* values = scaled.mutable_data<double>();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t i = 0; i < scaled.size(0); ++i) {
      double& value = values[i * 3 + static_cast<std::int64_t>(axis)];
      value = (value - box.lo[axis]) / surface.grid.voxel[axis];
    }
    grid.hi[axis] = static_cast<float>(cells[axis]);
  }
  const Coordinates sites = voxelize_mesh(scaled, faces, grid);

  surface.centres.names = {"x", "y", "z"};
  surface.centres.columns.resize(3);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double voxel = surface.grid.voxel[axis];
    for (std::int64_t i = 0; i < sites.size(); ++i) {
      surface.centres.columns[axis].push_back(box.lo[axis] + (sites.row(i)[3 - axis] + 0.5) * voxel);
    }
    const std::int64_t margin = (most - cells[axis]) / 2;  // cells
    surface.grid.lo[axis] = box.lo[axis] - static_cast<double>(margin) * voxel;
    surface.grid.hi[axis] = surface.grid.lo[axis] + static_cast<double>(most) * voxel;
  }
  surface.note = fmt::format("the surface of {} triangles touches {} voxels, {} along the longest side",
                             count_text(faces.size(0)), count_text(sites.size()), count_text(most));
  if (surface.faces_not_finite > 0) {
    surface.note +=
        fmt::format("; {} triangles are not finite and left out", count_text(surface.faces_not_finite));
  }
  return surface;
}

}  // namespace aerogel::cli
