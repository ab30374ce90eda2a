#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {

int PointTable::find(const std::string& name) const {
  const std::string wanted = lower_case(name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (lower_case(names[i]) == wanted) return static_cast<int>(i);
  }
  return -1;
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

const std::string* find_repeated(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return &name;
  }
  return nullptr;
}

void check_column_names(const std::vector<std::string>& names) {
  std::vector<std::string> lowered;
  for (const std::string& name : names) {
    if (name.empty()) throw InvalidArgument("[read_points] expected column names, found an empty one");
    lowered.push_back(lower_case(name));
  }
  if (const std::string* repeated = find_repeated(lowered)) {
    throw InvalidArgument(fmt::format("[read_points] column name {} is there twice", *repeated));
  }
  if (names.size() > kMaxColumns) {
    throw InvalidArgument(
        fmt::format("[read_points] expected at most {} columns, got {} names", kMaxColumns, names.size()));
  }
}

PointTable points_from_array(const Tensor& array, const std::string& path,
                             const std::vector<std::string>& columns) {
  check_column_names(columns);
  if (array.shape().size() != 2 || array.size(1) < 3 ||
      array.size(1) > static_cast<std::int64_t>(kMaxColumns) || array.dtype() == DType::kBool) {
    throw FormatError(path, -1,
                      fmt::format("expected numbers [P, 3 to {}], found {}", kMaxColumns, array.str()));
  }
  const auto rows = static_cast<std::size_t>(array.size(0));
  const auto width = static_cast<std::size_t>(array.size(1));
  if (!columns.empty() && columns.size() != width) {
    throw InvalidArgument(fmt::format("[read_points] {} column names were given but {} holds {}",
                                      columns.size(), path, array.str()));
  }
  PointTable table;
  table.names = columns.empty() ? std::vector<std::string>{"x", "y", "z"} : columns;
  while (table.names.size() < width) table.names.push_back(fmt::format("c{}", table.names.size()));
  table.dtypes.assign(width, array.dtype());
  const Tensor packed = array.contiguous();
  const std::size_t size = itemsize(packed.dtype());
  for (std::size_t column = 0; column < width; ++column) {
    table.columns.emplace_back(rows);
    if (rows == 0) continue;
    decode_column(static_cast<const char*>(packed.raw()) + column * size, width * size, packed.dtype(),
                  std::endian::native, table.columns.back());
  }
  return table;
}

const std::vector<std::string>& point_endings() {
  static const std::vector<std::string> kEndings = {".bin", ".pcd", ".ply", ".las", ".npy", ".npz"};
  return kEndings;
}

PointTable read_points(const Path& path, const PointReadOptions& options) {
  const std::vector<std::string>& known = point_endings();
  const std::string ending = lower_case(path.extension().string());
  if (std::find(known.begin(), known.end(), ending) == known.end()) {
    throw InvalidArgument(fmt::format("[read_points] expected a file ending in one of {}, found {}",
                                      fmt::join(known, " "), path.string()));
  }
  if (!options.npz_key.empty() && ending != ".npz") {
    throw InvalidArgument(
        fmt::format("[read_points] {} is no .npz: it has no array {}", path.string(), options.npz_key));
  }
  if (!options.columns.empty() && (ending == ".pcd" || ending == ".ply" || ending == ".las")) {
    throw InvalidArgument(
        fmt::format("[read_points] {} names its own columns, yet names were given", path.string()));
  }
  if (ending == ".bin") return read_kitti_bin(path, options.columns);
  if (ending == ".pcd") return read_pcd(path);
  if (ending == ".ply") return read_ply(path);
  if (ending == ".las") return read_las(path);
  if (ending == ".npy") return points_from_array(read_npy(path), path.string(), options.columns);
  return parse_npz_points(read_file(path), path.string(), options);
}

}  // namespace aerogel::io
