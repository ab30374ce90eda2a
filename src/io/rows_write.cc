// What the writers of points share: the columns' types, and rows of bytes or text.
#include <algorithm>

#include <fmt/core.h>
#include <fmt/format.h>

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {

DType written_type(const PointTable& table, std::size_t column, std::span<const DType> known) {
  const std::vector<double>& values = table.columns[column];
  const auto fits = [&](DType dtype) {
    return std::all_of(values.begin(), values.end(), [&](double value) { return fits_dtype(value, dtype); });
  };
  if (column < table.dtypes.size()) {
    const DType own = table.dtypes[column];
    if (std::find(known.begin(), known.end(), own) != known.end() && fits(own)) return own;
  }
  return fits(DType::kF32) ? DType::kF32 : DType::kF64;
}

std::string pack_rows(const PointTable& table, std::span<const DType> dtypes) {
  std::size_t row = 0;
  for (const DType dtype : dtypes) row += itemsize(dtype);
  std::string bytes(row * static_cast<std::size_t>(table.rows()), '\0');
  std::size_t at = 0;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    encode_column(table.columns[i], bytes.data() + at, row, dtypes[i], std::endian::little);
    at += itemsize(dtypes[i]);
  }
  return bytes;
}

std::string print_rows(const PointTable& table, std::span<const DType> dtypes) {
  fmt::memory_buffer text;
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows()); ++row) {
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      const double value = table.columns[i][row];
      if (i > 0) text.push_back(' ');
      if (dtypes[i] == DType::kF32) {
        fmt::format_to(std::back_inserter(text), "{}", static_cast<float>(value));
      } else if (dtypes[i] == DType::kF64) {
        fmt::format_to(std::back_inserter(text), "{}", value);
      } else {
        fmt::format_to(std::back_inserter(text), "{:.0f}", value);
      }
    }
    text.push_back('\n');
  }
  return fmt::to_string(text);
}

}  // namespace aerogel::io
