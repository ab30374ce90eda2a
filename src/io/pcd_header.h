// The text header of a .pcd file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aerogel/types.h"

#include "io/byte_reader.h"

namespace aerogel::io {

struct PcdField {
  std::string name;
  DType dtype = DType::kF32;
  std::uint64_t count = 1;
  bool is_padding() const { return name == "_"; }
  std::uint64_t bytes() const { return itemsize(dtype) * count; }
};

struct PcdHeader {
  std::vector<PcdField> fields;
  std::uint64_t points = 0;
  std::string encoding;
  std::uint64_t data_line = 0;  ///< where the DATA line begins
  std::uint64_t row_bytes() const {
    std::uint64_t sum = 0;
    for (const PcdField& field : fields) sum += field.bytes();
    return sum;
  }
  std::uint64_t row_values() const {
    std::uint64_t sum = 0;
    for (const PcdField& field : fields) sum += field.count;
    return sum;
  }
};

/// Reads up to the first byte after the DATA line. POINTS is WIDTH · HEIGHT; nothing is known yet about the
/// body.
PcdHeader read_pcd_header(ByteReader& reader);

}  // namespace aerogel::io
