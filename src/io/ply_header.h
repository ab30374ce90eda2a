// The text header of a .ply file.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aerogel/types.h"

#include "io/byte_reader.h"

namespace aerogel::io {

struct PlyProperty {
  std::string name;
  DType dtype = DType::kF32;
  std::optional<DType> length;  ///< a list, and the type its length is stored in
};

struct PlyElement {
  std::string name;
  std::uint64_t rows = 0;
  std::vector<PlyProperty> properties;
  bool has_list() const {
    for (const PlyProperty& property : properties) {
      if (property.length) return true;
    }
    return false;
  }
  /// Of a binary row whose lists are empty.
  std::uint64_t least_row_bytes() const {
    std::uint64_t sum = 0;
    for (const PlyProperty& property : properties) sum += itemsize(property.length.value_or(property.dtype));
    return sum;
  }
};

struct PlyHeader {
  std::optional<std::endian> order;  ///< none: ascii
  std::vector<PlyElement> elements;
};

/// Reads up to the first byte after end_header. One vertex element with distinct names is there; every
/// element that has rows has properties; nothing is known yet about the body.
PlyHeader read_ply_header(ByteReader& reader);

}  // namespace aerogel::io
