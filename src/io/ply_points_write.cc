#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

constexpr std::array kPlyTypes = {DType::kF32, DType::kF64, DType::kI8,  DType::kU8,
                                  DType::kI16, DType::kU16, DType::kI32, DType::kU32};
constexpr std::array kNames = {"float", "double", "char", "uchar", "short", "ushort", "int", "uint"};

}  // namespace

std::string encode_ply_points(const PointTable& table, bool ascii) {
  std::string bytes = fmt::format("ply\nformat {} 1.0\nelement vertex {}\n",
                                  ascii ? "ascii" : "binary_little_endian", table.rows());
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    dtypes.push_back(written_type(table, i, kPlyTypes));
    const auto type = std::find(kPlyTypes.begin(), kPlyTypes.end(), dtypes.back()) - kPlyTypes.begin();
    bytes += fmt::format("property {} {}\n", kNames[static_cast<std::size_t>(type)], table.names[i]);
  }
  return bytes + "end_header\n" + (ascii ? print_rows(table, dtypes) : pack_rows(table, dtypes));
}

}  // namespace aerogel::io
