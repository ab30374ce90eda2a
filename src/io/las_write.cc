// LAS 1.2, the version that every tool reads: point format 0, with time and colour where the table has them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "io/las_header.h"
#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

constexpr std::size_t kHeaderBytes = 227;
constexpr double kLeastSteps = 1e8;  // along the longest side; int32 holds twenty times as many

struct Axis {
  double lo = 0;
  double hi = 0;
  double offset = 0;
};

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  if constexpr (std::endian::native != std::endian::little) {
    std::reverse(reinterpret_cast<char*>(&value), reinterpret_cast<char*>(&value) + sizeof(T));
  }
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// Why `field` cannot hold the column, or nothing.
std::optional<std::string> misfit(const std::vector<double>& column, const LasField& field) {
  const double most = field.bits > 0 ? (1 << field.bits) - 1 : 0;
  for (std::size_t row = 0; row < column.size(); ++row) {
    const double value = column[row];
    if (fits_dtype(value, field.dtype) && (field.bits == 0 || value <= most)) continue;
    return field.bits > 0 ? fmt::format("a whole number 0 to {} is held, row {} has {}", most, row, value)
                          : fmt::format("{} is held, row {} has {}", dtype_name(field.dtype), row, value);
  }
  return std::nullopt;
}

int choose_format(const PointTable& table) {
  const bool colour = table.find("red") >= 0 && table.find("green") >= 0 && table.find("blue") >= 0;
  return (table.find("gps_time") >= 0 ? 1 : 0) + (colour ? 2 : 0);
}

/// The power of ten that makes kLeastSteps to ten times as many steps of the longest side.
double choose_scale(const Axis (&axes)[3]) {
  double longest = 0;
  for (const Axis& axis : axes) longest = std::max(longest, axis.hi - axis.lo);
  if (longest == 0) return 0.001;
  return std::pow(10, std::floor(std::log10(longest / kLeastSteps)));
}

void measure(const PointTable& table, const int (&columns)[3], Axis (&axes)[3]) {
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<double>& column = table.columns[static_cast<std::size_t>(columns[i])];
    if (column.empty()) continue;
    const auto [lo, hi] = std::minmax_element(column.begin(), column.end());
    axes[i] = {*lo, *hi, 0};
    if (!std::isfinite(*hi - *lo)) {
      throw InvalidArgument(
          fmt::format("[write_points] {} from {} to {} is too wide for .las", "xyz"[i], *lo, *hi));
    }
  }
}

/// Coordinates as steps of `scale` from the offset; notes by how much the largest error is.
void put_coordinates(const std::vector<double>& column, const Axis& axis, double scale, const LasField& field,
                     std::uint64_t record, std::string& bytes, PointWriteReport& report) {
  double worst = 0;
  for (std::size_t row = 0; row < column.size(); ++row) {
    const double steps = std::round((column[row] - axis.offset) / scale);
    worst = std::max(worst, std::abs(steps * scale + axis.offset - column[row]));
    put(bytes, kHeaderBytes + row * record + field.offset, static_cast<std::int32_t>(steps));
  }
  if (worst > 0) report.rounded.push_back({field.name, fmt::format("by at most {:.2g}", worst)});
}

void put_field(const std::vector<double>& column, const LasField& field, std::uint64_t record,
               std::string& bytes) {
  if (field.bits == 0) {
    if (!column.empty()) {
      encode_column(column, bytes.data() + kHeaderBytes + field.offset, record, field.dtype,
                    std::endian::little);
    }
    return;
  }
  for (std::size_t row = 0; row < column.size(); ++row) {
    char& byte = bytes[kHeaderBytes + row * record + field.offset];
    byte = static_cast<char>(byte | (static_cast<int>(column[row]) << field.first_bit));
  }
}

void put_header(std::string& bytes, int format, std::uint64_t record, std::uint32_t rows) {
  bytes.replace(0, 4, "LASF");
  put(bytes, 24, std::uint8_t{1});
  put(bytes, 25, std::uint8_t{2});
  bytes.replace(26, 7, "aerogel");  // the system, and the software
  bytes.replace(58, 7, "aerogel");
  put(bytes, 94, static_cast<std::uint16_t>(kHeaderBytes));
  put(bytes, 96, static_cast<std::uint32_t>(kHeaderBytes));
  put(bytes, 104, static_cast<std::uint8_t>(format));
  put(bytes, 105, static_cast<std::uint16_t>(record));
  put(bytes, 107, rows);
}

/// Points of each return, 1 to 5; a table without the column has first returns only.
void put_returns(std::string& bytes, const std::vector<double>* returns, std::uint32_t rows) {
  std::uint32_t counts[5] = {returns == nullptr ? rows : 0};
  for (std::size_t i = 0; returns != nullptr && i < returns->size(); ++i) {
    const double number = (*returns)[i];
    if (number >= 1 && number <= 5) ++counts[static_cast<std::size_t>(number) - 1];
  }
  for (std::size_t i = 0; i < 5; ++i) put(bytes, 111 + 4 * i, counts[i]);
}

}  // namespace

std::string encode_las(const PointTable& table, PointWriteReport& report) {
  const int columns[3] = {table.find("x"), table.find("y"), table.find("z")};
  if (table.rows() > 4294967295) {
    throw InvalidArgument(
        fmt::format("[write_points] .las 1.2 holds at most 2^32 - 1 points, got {}", table.rows()));
  }
  const auto rows = static_cast<std::uint32_t>(table.rows());
  const int format = choose_format(table);
  const std::uint64_t record = las_record_bytes(format);
  Axis axes[3];
  measure(table, columns, axes);
  const double scale = choose_scale(axes);
  for (Axis& axis : axes) {  // a round number at most kLeastSteps below, so that steps stay within int32
    axis.offset = std::floor(axis.lo / (scale * kLeastSteps)) * scale * kLeastSteps;
  }
  std::string bytes(kHeaderBytes + record * rows, '\0');
  put_header(bytes, format, record, rows);
  std::vector<bool> held(table.names.size(), false);
  const std::vector<double>* returns = nullptr;
  for (const LasField& field : las_fields(format)) {
    const int found = table.find(field.name);
    if (found < 0) continue;
    const auto place = static_cast<std::size_t>(found);
    const std::vector<double>& column = table.columns[place];
    held[place] = true;
    const auto axis = std::find(std::begin(columns), std::end(columns), found) - std::begin(columns);
    if (axis < 3) {
      put_coordinates(column, axes[axis], scale, field, record, bytes, report);
    } else if (const auto why = misfit(column, field)) {
      report.dropped.push_back({table.names[place], *why});
      continue;
    } else {
      put_field(column, field, record, bytes);
    }
    if (field.name == "return_number") returns = &column;
    report.written.push_back(table.names[place]);
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!held[i])
      report.dropped.push_back({table.names[i], fmt::format("no field of point format {}", format)});
  }
  put_returns(bytes, returns, rows);
  for (std::size_t i = 0; i < 3; ++i) {
    put(bytes, 131 + 8 * i, scale);
    put(bytes, 155 + 8 * i, axes[i].offset);
    put(bytes, 179 + 16 * i, axes[i].hi);
    put(bytes, 187 + 16 * i, axes[i].lo);
  }
  return bytes;
}

}  // namespace aerogel::io
