// Collects a mesh from a file: polygons become fans, corners are checked once all vertices are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aerogel/io.h"

#include "io/byte_reader.h"

namespace aerogel::io {

class MeshBuilder {
 public:
  /// `reader` is what refusals are thrown through; it must outlive this.
  explicit MeshBuilder(const ByteReader& reader) : reader_(reader) {}

  std::int64_t vertices() const { return static_cast<std::int64_t>(coordinates_.size() / 3); }
  std::int64_t triangles() const { return static_cast<std::int64_t>(faces_.size() / 3); }

  void add_coordinate(double value) { coordinates_.push_back(value); }
  void add_colour(double value) { colours_.push_back(static_cast<float>(value)); }

  /// The fan (0, i, i + 1) of `corners`, which count vertices from 0. `offset` is where they stand;
  /// FormatError there if they are fewer than three.
  void add_polygon(std::uint64_t offset, std::span<const std::int64_t> corners);

  /// FormatError at a polygon that names a vertex which is not there. Colours are left out unless each vertex
  /// has one.
  Mesh finish();

 private:
  struct Polygon {
    std::uint64_t offset;
    std::size_t end;  // in faces_
  };

  const ByteReader& reader_;
  std::vector<double> coordinates_;
  std::vector<float> colours_;
  std::vector<std::int64_t> faces_;
  std::vector<Polygon> polygons_;
};

}  // namespace aerogel::io
