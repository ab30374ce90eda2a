// Binary glTF 2.0: the triangles of the scene, each node's transform applied.
//   source   Khronos, "glTF 2.0 Specification", chapters 3 and 4
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "aerogel/io.h"

#include "io/gltf.h"
#include "io/mesh_builder.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

using Json = nlohmann::json;
using Matrix = std::array<double, 16>;  // column-major, as glTF has it

constexpr std::uint32_t kJsonChunk = 0x4e4f534a;
constexpr std::uint32_t kBinaryChunk = 0x004e4942;
constexpr Matrix kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product{};
  for (std::size_t column = 0; column < 4; ++column) {
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t k = 0; k < 4; ++k) product[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
    }
  }
  return product;
}

/// Translation · rotation (a quaternion x, y, z, w) · scale, or the matrix as it stands.
Matrix local_transform(const GltfDocument& document, const Json& node) {
  if (const auto matrix = document.numbers(node, "matrix", 16)) {
    Matrix stored;
    std::copy(matrix->begin(), matrix->end(), stored.begin());
    return stored;
  }
  const auto t = document.numbers(node, "translation", 3).value_or(std::vector<double>{0, 0, 0});
  const auto r = document.numbers(node, "rotation", 4).value_or(std::vector<double>{0, 0, 0, 1});
  const auto s = document.numbers(node, "scale", 3).value_or(std::vector<double>{1, 1, 1});
  const double x = r[0];
  const double y = r[1];
  const double z = r[2];
  const double w = r[3];
  return {(1 - 2 * (y * y + z * z)) * s[0],
          2 * (x * y + z * w) * s[0],
          2 * (x * z - y * w) * s[0],
          0,
          2 * (x * y - z * w) * s[1],
          (1 - 2 * (x * x + z * z)) * s[1],
          2 * (y * z + x * w) * s[1],
          0,
          2 * (x * z + y * w) * s[2],
          2 * (y * z - x * w) * s[2],
          (1 - 2 * (x * x + y * y)) * s[2],
          0,
          t[0],
          t[1],
          t[2],
          1};
}

/// Walks the scene's nodes and adds their primitives.
class SceneReader {
 public:
  SceneReader(const GltfDocument& document, const ByteReader& reader, std::uint64_t json_at,
              std::uint64_t file_bytes)
      : document_(document), mesh_(reader), json_at_(json_at), left_(file_bytes * kMostInstances) {}

  Mesh read() {
    const Json& root = document_.root();
    const Json* nodes = document_.array(root, "nodes");
    visited_.assign(nodes == nullptr ? 0 : nodes->size(), false);
    if (root.contains("scenes")) {
      visit_children(document_.entry("scenes", document_.count(root, "scene", 0)), "nodes", kIdentity);
    } else {  // no scene: the meshes as they are
      const Json* meshes = document_.array(root, "meshes");
      for (std::uint64_t i = 0; meshes != nullptr && i < meshes->size(); ++i) add_mesh(i, kIdentity);
    }
    return mesh_.finish();
  }

 private:
  /// An instance costs a few bytes of JSON and the whole mesh in memory.
  static constexpr std::uint64_t kMostInstances = 64;

  void visit_children(const Json& parent, const char* name, const Matrix& transform) {
    const Json* children = document_.array(parent, name);
    if (children == nullptr) return;
    struct Pending {
      std::uint64_t node;
      Matrix transform;
    };
    std::vector<Pending> pending;
    const auto push = [&](const Json& list, const Matrix& above) {
      for (auto item = list.rbegin(); item != list.rend(); ++item) {
        pending.push_back({document_.index(*item, "a node"), above});
      }
    };
    push(*children, transform);
    while (!pending.empty()) {
      const Pending next = pending.back();
      pending.pop_back();
      const Json& node = document_.entry("nodes", next.node);
      if (visited_[next.node]) {
        document_.fail(fmt::format("nodes[{}]: expected nodes to form trees, found it twice", next.node));
      }
      visited_[next.node] = true;
      const Matrix place = next.transform * local_transform(document_, node);
      if (node.contains("mesh")) add_mesh(document_.count(node, "mesh"), place);
      if (const Json* below = document_.array(node, "children")) push(*below, place);
    }
  }

  void add_mesh(std::uint64_t index, const Matrix& transform) {
    const Json* primitives = document_.array(document_.entry("meshes", index), "primitives");
    if (primitives == nullptr) return;
    for (const Json& primitive : *primitives) {
      if (!primitive.is_object())
        document_.fail(fmt::format("meshes[{}]: expected objects as primitives", index));
      add_primitive(primitive, transform);
    }
  }

  void add_primitive(const Json& primitive, const Matrix& transform) {
    constexpr std::uint64_t kTriangles = 4;
    constexpr std::uint64_t kFan = 6;
    const std::uint64_t mode = document_.count(primitive, "mode", kTriangles);
    const auto attributes = primitive.find("attributes");
    if (mode < kTriangles || attributes == primitive.end() || !attributes->contains("POSITION")) return;
    if (mode > kFan) document_.fail(fmt::format("mode: expected 0 to 6, found {}", mode));
    if (const auto extensions = primitive.find("extensions"); extensions != primitive.end()) {
      if (extensions->contains("KHR_draco_mesh_compression")) {
        document_.fail("expected plain triangles, found KHR_draco_mesh_compression");
      }
    }
    const GltfAccessor positions = document_.accessor(document_.count(*attributes, "POSITION"));
    if (positions.width != 3) document_.fail("POSITION: expected VEC3, found another type");
    GltfAccessor corners;
    corners.count = positions.count;
    const bool indexed = primitive.contains("indices");
    if (indexed) {
      corners = document_.accessor(document_.count(primitive, "indices"));
      const bool whole =
          corners.dtype == DType::kU8 || corners.dtype == DType::kU16 || corners.dtype == DType::kU32;
      if (corners.width != 1 || !whole || corners.scale != 1) {
        document_.fail("indices: expected SCALAR numbers without a sign, found another type");
      }
    }
    spend(positions.count);
    spend(corners.count);
    const std::int64_t base = mesh_.vertices();
    add_vertices(positions, transform);
    add_colours(*attributes, positions.count);
    std::vector<double> order(corners.count);
    if (indexed) {
      order = corners.read(0);
    } else {
      std::iota(order.begin(), order.end(), 0.0);
    }
    add_triangles(order, mode, base, static_cast<double>(positions.count));
  }

  void spend(std::uint64_t rows) {
    if (rows > left_) {
      document_.fail(
          fmt::format("expected at most {} vertices and corners a byte of the file, found more instances",
                      kMostInstances));
    }
    left_ -= rows;
  }

  void add_vertices(const GltfAccessor& positions, const Matrix& m) {
    const std::vector<double> x = positions.read(0);
    const std::vector<double> y = positions.read(1);
    const std::vector<double> z = positions.read(2);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t row = 0; row < 3; ++row) {
        mesh_.add_coordinate(m[row] * x[i] + m[4 + row] * y[i] + m[8 + row] * z[i] + m[12 + row]);
      }
    }
  }

  void add_colours(const Json& attributes, std::uint64_t vertices) {
    if (!attributes.contains("COLOR_0")) return;
    const GltfAccessor colours = document_.accessor(document_.count(attributes, "COLOR_0"));
    if (colours.width < 3 || colours.count != vertices) {
      document_.fail(fmt::format("COLOR_0: expected VEC3 or VEC4 of {} vertices, found {} rows of {}",
                                 vertices, colours.count, colours.width));
    }
    const std::vector<double> channels[] = {colours.read(0), colours.read(1), colours.read(2)};
    for (std::size_t i = 0; i < vertices; ++i) {
      for (const std::vector<double>& channel : channels) mesh_.add_colour(channel[i]);
    }
  }

  /// Triangles, a strip (every second one turned round) or a fan.
  void add_triangles(const std::vector<double>& order, std::uint64_t mode, std::int64_t base,
                     double vertices) {
    constexpr std::uint64_t kTriangles = 4;
    constexpr std::uint64_t kStrip = 5;
    for (const double corner : order) {
      if (corner >= vertices) {
        document_.fail(fmt::format("indices: expected vertices 0 to {}, found {}", vertices - 1, corner));
      }
    }
    if (mode == kTriangles && order.size() % 3 != 0) {
      document_.fail(fmt::format("expected three corners a triangle, found {} corners", order.size()));
    }
    const std::size_t step = mode == kTriangles ? 3 : 1;
    const auto corner = [&](std::size_t i) { return base + static_cast<std::int64_t>(order[i]); };
    for (std::size_t i = 0; i + 2 < order.size(); i += step) {
      std::int64_t corners[] = {corner(i), corner(i + 1), corner(i + 2)};
      if (mode == kStrip && i % 2 == 1) std::swap(corners[1], corners[2]);
      if (mode > kStrip) corners[0] = corner(0);
      mesh_.add_polygon(json_at_, corners);
    }
  }

  const GltfDocument& document_;
  MeshBuilder mesh_;
  std::uint64_t json_at_;
  std::uint64_t left_;
  std::vector<bool> visited_;
};

std::string_view take_chunk(ByteReader& reader, std::uint32_t kind, std::string_view what) {
  const std::uint64_t at = reader.offset();
  const auto length = reader.little<std::uint32_t>("the length of a chunk");
  const auto found = reader.little<std::uint32_t>("the kind of a chunk");
  if (found != kind)
    reader.fail_at(at + 4, fmt::format("expected {} ({:#010x}), found {:#010x}", what, kind, found));
  return reader.take(length, what);
}

Json parse_document(std::string_view text, const ByteReader& reader, std::uint64_t json_at) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    reader.fail_at(json_at + (error.byte > 0 ? error.byte - 1 : 0),
                   fmt::format("expected JSON, found {}", excerpt(error.what(), 160)));
  }
  if (!json.is_object())
    reader.fail_at(json_at, fmt::format("expected a JSON object, found {}", json.type_name()));
  return json;
}

/// Extensions that change where vertices lie or how they are stored; materials and lights do not matter here.
void check_extensions(const GltfDocument& document) {
  const Json* required = document.array(document.root(), "extensionsRequired");
  if (required == nullptr) return;
  for (const Json& name : *required) {
    for (const char* unknown :
         {"KHR_draco_mesh_compression", "EXT_meshopt_compression", "EXT_mesh_gpu_instancing"}) {
      if (name == unknown) document.fail(fmt::format("expected plain triangles, found {}", unknown));
    }
  }
}

}  // namespace

Mesh parse_glb(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const std::string_view magic = reader.take(4, "\"glTF\"");
  if (magic != "glTF") reader.fail_at(0, fmt::format("expected \"glTF\", found {}", excerpt(magic)));
  const auto version = reader.little<std::uint32_t>("the version");
  if (version != 2) reader.fail_at(4, fmt::format("expected glTF version 2, found {}", version));
  const auto length = reader.little<std::uint32_t>("the length");
  if (length != bytes.size()) {
    reader.fail_at(8, fmt::format("expected the length of the file, {}, found {}", bytes.size(), length));
  }
  const std::uint64_t json_at = reader.offset() + 8;
  const std::string_view text = take_chunk(reader, kJsonChunk, "a JSON chunk");
  const std::string_view binary = reader.at_end() ? "" : take_chunk(reader, kBinaryChunk, "a binary chunk");
  const GltfDocument document(parse_document(text, reader, json_at), binary, reader, json_at);
  check_extensions(document);
  return SceneReader(document, reader, json_at, bytes.size()).read();
}

Mesh read_glb(const Path& path) { return parse_glb(read_file(path), path.string()); }

}  // namespace aerogel::io
