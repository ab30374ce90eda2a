#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {

std::vector<std::string> bin_columns(const std::string& path) {
  if (lower_case(path).ends_with(".pcd.bin")) return {"x", "y", "z", "intensity", "ring"};
  return {"x", "y", "z", "intensity"};
}

PointTable parse_kitti_bin(std::string_view bytes, const std::string& path,
                           const std::vector<std::string>& columns) {
  check_column_names(columns);
  PointTable table;
  table.names = columns.empty() ? bin_columns(path) : columns;
  table.dtypes.assign(table.names.size(), DType::kF32);
  const std::size_t stride = table.names.size() * sizeof(float);
  const std::size_t rows = bytes.size() / stride;
  if (bytes.size() % stride != 0) {
    throw FormatError(path, static_cast<std::int64_t>(rows * stride),
                      fmt::format("expected rows of {} f32 columns, {} bytes each, found {} bytes left of {}",
                                  table.names.size(), stride, bytes.size() % stride, bytes.size()));
  }
  for (std::size_t column = 0; column < table.names.size(); ++column) {
    table.columns.emplace_back(rows);
    if (rows == 0) continue;
    decode_column(bytes.data() + column * sizeof(float), stride, DType::kF32, std::endian::little,
                  table.columns.back());
  }
  return table;
}

PointTable read_kitti_bin(const Path& path, const std::vector<std::string>& columns) {
  return parse_kitti_bin(read_file(path), path.string(), columns);
}

}  // namespace aerogel::io
