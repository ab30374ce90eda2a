// Polygon files: the vertex element's scalars become columns, the faces' lists triangles; other elements and
// lists are walked over.
//   source   Greg Turk, "The PLY Polygon File Format", 1994
#include <cmath>

#include <fmt/core.h>

#include "aerogel/io.h"

#include "io/mesh_builder.h"
#include "io/parsers.h"
#include "io/ply_body.h"

namespace aerogel::io {
namespace {

bool is_corner_list(const PlyProperty& property) {
  return property.length && (property.name == "vertex_indices" || property.name == "vertex_index");
}

/// The corner lists of the faces as triangles.
class PlyFaces final : public PlySink {
 public:
  PlyFaces(const ByteReader& reader, MeshBuilder& mesh) : reader_(reader), mesh_(mesh) {}

  bool wants_list(const PlyProperty& list) const override { return is_corner_list(list); }
  void list(std::uint64_t offset, const std::vector<double>& values) override {
    corners_.clear();
    for (const double value : values) {
      const bool whole = value >= 0 && value < 9007199254740992.0 && value == std::floor(value);
      if (!whole) reader_.fail_at(offset, fmt::format("expected the number of a vertex, found {}", value));
      corners_.push_back(static_cast<std::int64_t>(value));
    }
    mesh_.add_polygon(offset, corners_);
  }

 private:
  const ByteReader& reader_;
  MeshBuilder& mesh_;
  std::vector<std::int64_t> corners_;
};

/// Colours as glTF has them, 0 to 1: integers are divided by the largest that their type holds.
void take_colours(const PointTable& table, MeshBuilder& mesh) {
  std::size_t columns[3];
  double scale[3] = {1, 1, 1};
  for (int channel = 0; channel < 3; ++channel) {
    constexpr const char* kNames[] = {"red", "green", "blue"};
    const int found = table.find(kNames[channel]);
    if (found < 0) return;
    columns[channel] = static_cast<std::size_t>(found);
    const DType dtype = table.dtypes[columns[channel]];
    if (dtype == DType::kU8) scale[channel] = 1.0 / 255;
    if (dtype == DType::kU16) scale[channel] = 1.0 / 65535;
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows()); ++row) {
    for (int channel = 0; channel < 3; ++channel) {
      mesh.add_colour(table.columns[columns[channel]][row] * scale[channel]);
    }
  }
}

}  // namespace

PointTable parse_ply(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const PlyHeader header = read_ply_header(reader);
  PlyColumns vertices;
  PlySink nowhere;
  read_ply_body(reader, header, [&](const PlyElement& element) -> PlySink& {
    return element.name == "vertex" ? vertices : nowhere;
  });
  return vertices.take();
}

Mesh parse_ply_mesh(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const PlyHeader header = read_ply_header(reader);
  MeshBuilder mesh(reader);
  PlyColumns vertices;
  PlyFaces faces(reader, mesh);
  PlySink nowhere;
  read_ply_body(reader, header, [&](const PlyElement& element) -> PlySink& {
    if (element.name == "vertex") return vertices;
    return element.name == "face" ? static_cast<PlySink&>(faces) : nowhere;
  });
  const PointTable table = vertices.take();
  int axes[3];
  for (int axis = 0; axis < 3; ++axis) {
    constexpr const char* kNames[] = {"x", "y", "z"};
    axes[axis] = table.find(kNames[axis]);
    if (axes[axis] < 0)
      reader.fail_at(0, fmt::format("expected a vertex property {}, found none", kNames[axis]));
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows()); ++row) {
    for (const int axis : axes) mesh.add_coordinate(table.columns[static_cast<std::size_t>(axis)][row]);
  }
  take_colours(table, mesh);
  return mesh.finish();
}

bool ply_has_faces(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  for (const PlyElement& element : read_ply_header(reader).elements) {
    if (element.name != "face" || element.rows == 0) continue;
    for (const PlyProperty& property : element.properties) {
      if (is_corner_list(property)) return true;
    }
  }
  return false;
}

PointTable read_ply(const Path& path) { return parse_ply(read_file(path), path.string()); }
Mesh read_ply_mesh(const Path& path) { return parse_ply_mesh(read_file(path), path.string()); }

}  // namespace aerogel::io
