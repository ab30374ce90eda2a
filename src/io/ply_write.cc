#include <algorithm>
#include <bit>
#include <cstring>

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
  const auto rows = static_cast<std::size_t>(xyz.size(0));
  std::string bytes = fmt::format(
      "ply\nformat binary_little_endian 1.0\nelement vertex {}\n"
      "property float x\nproperty float y\nproperty float z\n",
      rows);
  for (const auto& [name, values] : fields) bytes += fmt::format("property float {}\n", name);
  bytes += "end_header\n";

  const std::size_t begin = bytes.size();
  const std::size_t width = 3 + fields.size();
  bytes.resize(begin + rows * width * sizeof(float));
  const auto store = [&](const Tensor& packed, std::size_t first, std::size_t columns) {
    const float* values = packed.data<float>();
    for (std::size_t row = 0; row < rows; ++row) {
      std::memcpy(bytes.data() + begin + (row * width + first) * sizeof(float), values + row * columns,
                  columns * sizeof(float));
    }
  };
  store(xyz.contiguous(), 0, 3);
  for (std::size_t i = 0; i < fields.size(); ++i) store(fields[i].second.contiguous(), 3 + i, 1);
  if constexpr (std::endian::native != std::endian::little) {
    swap_bytes(bytes.data() + begin, sizeof(float), rows * width);
  }
  return bytes;
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
