#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

void check_fields(const Tensor& xyz, const std::vector<std::pair<std::string, Tensor>>& fields) {
  if (xyz.dtype() != DType::kF32 || xyz.shape().size() != 2 || xyz.size(1) != 3) {
    throw InvalidArgument(fmt::format("[write_ply] expected xyz f32 [P, 3], got {}", xyz.str()));
  }
  std::vector<std::string> names = {"x", "y", "z"};
  for (const auto& [name, values] : fields) {
    const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (name.empty() || !printable) {
      throw InvalidArgument(
          fmt::format("[write_ply] field name {} must be printable and without spaces", excerpt(name)));
    }
    if (values.dtype() != DType::kF32 || values.shape() != Dims{xyz.size(0)}) {
      throw InvalidArgument(
          fmt::format("[write_ply] expected field {} f32 [{}], got {}", name, xyz.size(0), values.str()));
    }
    names.push_back(lower_case(name));
  }
  if (const std::string* repeated = find_repeated(names)) {
    throw InvalidArgument(fmt::format("[write_ply] field {} is there twice", *repeated));
  }
}

}  // namespace

std::string encode_ply(const Tensor& xyz, const std::vector<std::pair<std::string, Tensor>>& fields) {
  check_fields(xyz, fields);
  PointTable table;
  const auto add = [&](const std::string& name, const Tensor& packed, std::size_t first, std::size_t stride) {
    const auto* values = packed.data<float>();
    table.names.push_back(name);
    table.dtypes.push_back(DType::kF32);
    std::vector<double>& column = table.columns.emplace_back(static_cast<std::size_t>(xyz.size(0)));
    for (std::size_t row = 0; row < column.size(); ++row) {
      column[row] = static_cast<double>(values[row * stride + first]);
    }
  };
  const Tensor packed = xyz.contiguous();
  for (std::size_t axis = 0; axis < 3; ++axis) add(std::string(1, "xyz"[axis]), packed, axis, 3);
  for (const auto& [name, values] : fields) add(name, values.contiguous(), 0, 1);
  return encode_ply_points(table, false);
}

void write_ply(const Path& path, const Tensor& xyz, const std::vector<std::pair<std::string, Tensor>>& fields,
               std::string comment) {
  std::string bytes = encode_ply(xyz, fields);
  if (!comment.empty()) {
    std::replace_if(
        comment.begin(), comment.end(), [](unsigned char c) { return c < 32; }, ' ');
    bytes.insert(bytes.find("element vertex"), "comment " + comment + "\n");
  }
  write_file(path, bytes);
}

}  // namespace aerogel::io
