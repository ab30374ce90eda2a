#include "io/mesh_builder.h"

#include <algorithm>

#include <fmt/core.h>

namespace aerogel::io {

void MeshBuilder::add_polygon(std::uint64_t offset, std::span<const std::int64_t> corners) {
  if (corners.size() < 3) {
    reader_.fail_at(offset, fmt::format("face {}: expected at least 3 corners, found {}", polygons_.size(),
                                        corners.size()));
  }
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
    faces_.insert(faces_.end(), {corners[0], corners[i], corners[i + 1]});
  }
  polygons_.push_back({offset, faces_.size()});
}

Mesh MeshBuilder::finish() {
  const auto bad = std::find_if(faces_.begin(), faces_.end(),
                                [&](std::int64_t corner) { return corner < 0 || corner >= vertices(); });
  if (bad != faces_.end()) {
    const auto place = static_cast<std::size_t>(bad - faces_.begin());
    const auto polygon = std::upper_bound(polygons_.begin(), polygons_.end(), place,
                                          [](std::size_t at, const Polygon& p) { return at < p.end; });
    reader_.fail_at(polygon->offset, fmt::format("face {}: expected vertices 0 to {}, found {}",
                                                 polygon - polygons_.begin(), vertices() - 1, *bad));
  }
  Mesh mesh;
  mesh.vertices = Tensor::from<double>({vertices(), 3}, coordinates_);
  mesh.faces = Tensor::from<std::int64_t>({triangles(), 3}, faces_);
  if (!colours_.empty() && colours_.size() == coordinates_.size()) {
    mesh.colours = Tensor::from<float>({vertices(), 3}, colours_);
  }
  return mesh;
}

}  // namespace aerogel::io
