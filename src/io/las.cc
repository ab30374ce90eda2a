// Airborne and survey scans: records of integers, with a scale and an offset that are applied in double.
#include "aerogel/io.h"

#include "io/byte_reader.h"
#include "io/las_header.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

void read_field(const char* first, std::uint64_t record, const LasField& field, std::vector<double>& column) {
  decode_column(first + field.offset, record, field.dtype, std::endian::little, column);
  if (field.bits > 0) {
    const unsigned mask = (1u << field.bits) - 1;
    for (double& value : column) value = (static_cast<unsigned>(value) >> field.first_bit) & mask;
  }
  if (!field.is_scaled()) return;
  for (double& value : column) value = value * field.scale + field.shift;
}

}  // namespace

PointTable parse_las(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const LasHeader header = read_las_header(reader);
  const char* first = bytes.data() + header.points_at;
  PointTable table;
  for (const LasField& field : header.fields) {
    table.names.push_back(field.name);
    // x, y and z always become fractions, even where their scale is 1.
    table.dtypes.push_back(field.is_scaled() || table.dtypes.size() < 3 ? DType::kF64 : field.dtype);
    table.columns.emplace_back(header.points);
    if (header.points > 0) read_field(first, header.record, field, table.columns.back());
  }
  return table;
}

PointTable read_las(const Path& path) { return parse_las(read_file(path), path.string()); }

}  // namespace aerogel::io
