// The public header and the records of a .las file, down to where each value of a point stands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aerogel/types.h"

#include "io/byte_reader.h"

namespace aerogel::io {

/// A column of a point record: value = (stored number, its bits cut out if `bits` > 0) · scale + shift.
struct LasField {
  std::string name;
  std::uint64_t offset = 0;  ///< within the record
  DType dtype = DType::kU8;
  int first_bit = 0;
  int bits = 0;
  double scale = 1;
  double shift = 0;
  bool is_scaled() const { return scale != 1 || shift != 0; }
};

struct LasHeader {
  int format = 0;                ///< 0 to 10
  std::uint64_t record = 0;      ///< bytes of a point
  std::uint64_t points_at = 0;   ///< byte of the first point
  std::uint64_t points = 0;      ///< `points` records of `record` bytes lie inside the file
  std::vector<LasField> fields;  ///< all inside a record, their names distinct
};

/// Reads the header, and the extra-bytes record where there is one among the variable length records in front
/// of the points or the extended ones behind them.
LasHeader read_las_header(ByteReader& reader);

/// Fields of point format 0 to 10, x, y and z first, their scales not yet set.
std::vector<LasField> las_fields(int format);

/// Bytes of a record of point format 0 to 10.
std::uint64_t las_record_bytes(int format);

}  // namespace aerogel::io
