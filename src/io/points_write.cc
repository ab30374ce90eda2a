// Tables of points as files: which columns a format takes, and what becomes of the others.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

[[noreturn]] void refuse(const std::string& wrong) { throw InvalidArgument("[write_points] " + wrong); }

std::size_t require_column(const PointTable& table, const std::string& name) {
  const int found = table.find(name);
  if (found < 0)
    refuse(fmt::format("there is no column {}; there are {}", name, fmt::join(table.names, ", ")));
  return static_cast<std::size_t>(found);
}

void check_table(const PointTable& table) {
  if (table.names.empty() || table.names.size() != table.columns.size() ||
      (!table.dtypes.empty() && table.dtypes.size() != table.names.size())) {
    refuse(fmt::format(
        "expected a name, and a dtype or none, for each column, got {} names, {} dtypes and {} columns",
        table.names.size(), table.dtypes.size(), table.columns.size()));
  }
  std::vector<std::string> lowered;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    const std::string& name = table.names[i];
    const bool printable =
        std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~' && c != ','; });
    if (name.empty() || !printable) {
      refuse(fmt::format("column name {} must be printable, without spaces and commas", excerpt(name)));
    }
    if (table.columns[i].size() != table.columns[0].size()) {
      refuse(fmt::format("column {} has {} rows, {} has {}", name, table.columns[i].size(), table.names[0],
                         table.columns[0].size()));
    }
    lowered.push_back(lower_case(name));
  }
  if (const std::string* repeated = find_repeated(lowered))
    refuse(fmt::format("column {} is there twice", *repeated));
}

PointTable select(const PointTable& table, const std::vector<std::string>& names) {
  PointTable chosen;
  for (const std::string& name : names) {
    const std::size_t column = require_column(table, name);
    chosen.names.push_back(table.names[column]);
    chosen.columns.push_back(table.columns[column]);
    if (!table.dtypes.empty()) chosen.dtypes.push_back(table.dtypes[column]);
  }
  return chosen;
}

void note_dropped(const PointTable& table, const std::vector<std::string>& kept, PointWriteReport& report) {
  for (const std::string& name : table.names) {
    const bool is_kept = std::any_of(kept.begin(), kept.end(), [&](const std::string& other) {
      return lower_case(other) == lower_case(name);
    });
    if (!is_kept) report.dropped.push_back({name, "not among the columns asked for"});
  }
}

/// Values that f32 lacks, with the largest error.
void note_rounding(const PointTable& table, PointWriteReport& report) {
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    double worst = 0;
    for (const double value : table.columns[i]) {
      if (!fits_dtype(value, DType::kF32)) {
        worst = std::max(worst, std::abs(value - static_cast<double>(static_cast<float>(value))));
      }
    }
    if (worst > 0)
      report.rounded.push_back({table.names[i], fmt::format("to f32, by at most {:.2g}", worst)});
  }
}

/// f32 rows: the columns asked for, or those of KITTI or nuScenes, zeros where they are missing.
std::string encode_bin(const PointTable& table, const std::string& path, bool chosen,
                       PointWriteReport& report) {
  PointTable rows = table;
  if (!chosen) {
    const std::vector<std::string> names = bin_columns(path);
    rows = {};
    for (const std::string& name : names) {
      const int found = table.find(name);
      if (found < 0 && (name == "x" || name == "y" || name == "z")) require_column(table, name);
      if (found < 0) report.zero_filled.push_back(name);
      rows.names.push_back(name);
      rows.columns.push_back(found < 0 ? std::vector<double>(static_cast<std::size_t>(table.rows()))
                                       : table.columns[static_cast<std::size_t>(found)]);
    }
    for (const std::string& name : table.names) {
      if (rows.find(name) < 0) {
        report.dropped.push_back({name, fmt::format("the format has {} only", fmt::join(names, ", "))});
      }
    }
  }
  report.written = rows.names;
  for (std::vector<double>& column : rows.columns) {
    for (double& value : column) {  // past f32 is past f32's infinity
      if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
        value = std::copysign(HUGE_VAL, value);
    }
  }
  note_rounding(rows, report);
  return pack_rows(rows, std::vector<DType>(rows.names.size(), DType::kF32));
}

/// [P, F], f32 if that holds every value.
Tensor to_array(const PointTable& table) {
  std::vector<DType> dtypes(table.names.size(), DType::kF32);
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const DType f32[] = {DType::kF32};
    if (written_type(table, i, f32) != DType::kF32) dtypes.assign(dtypes.size(), DType::kF64);
  }
  Tensor array = Tensor::empty({table.rows(), static_cast<std::int64_t>(dtypes.size())}, dtypes[0]);
  const std::size_t size = itemsize(dtypes[0]);
  for (std::size_t i = 0; array.numel() > 0 && i < dtypes.size(); ++i) {
    encode_column(table.columns[i], static_cast<char*>(array.raw()) + i * size, size * dtypes.size(),
                  dtypes[0], std::endian::native);
  }
  return array;
}

std::string encode_array(const PointTable& table, bool with_names) {
  const Tensor array = to_array(table);
  if (!with_names) return encode_npy(array);
  const std::string text = fmt::format("{}", fmt::join(table.names, ","));
  const std::vector<std::uint8_t> names(text.begin(), text.end());
  return encode_npz(
      {{"points", array},
       {"columns", Tensor::from<std::uint8_t>({static_cast<std::int64_t>(names.size())}, names)}});
}

/// Without the rows whose x, y or z is not finite.
PointTable finite_rows(const PointTable& table) {
  const std::size_t axes[] = {require_column(table, "x"), require_column(table, "y"),
                              require_column(table, "z")};
  PointTable kept = table;
  for (std::vector<double>& column : kept.columns) column.clear();
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows()); ++row) {
    const bool finite = std::all_of(std::begin(axes), std::end(axes), [&](std::size_t axis) {
      return std::isfinite(table.columns[axis][row]);
    });
    if (!finite) continue;
    for (std::size_t i = 0; i < kept.columns.size(); ++i) kept.columns[i].push_back(table.columns[i][row]);
  }
  return kept;
}

}  // namespace

PointWriteReport write_points(const Path& path, const PointTable& given, const PointWriteOptions& options) {
  const std::string ending = lower_case(path.extension().string());
  const std::vector<std::string>& known = point_endings();
  if (std::find(known.begin(), known.end(), ending) == known.end()) {
    refuse(
        fmt::format("expected a file ending in one of {}, found {}", fmt::join(known, " "), path.string()));
  }
  if (options.ascii && ending != ".ply" && ending != ".pcd") {
    refuse(fmt::format("{} has no ascii form; .ply and .pcd have", ending));
  }
  check_table(given);
  check_column_names(options.columns);
  PointWriteReport report;
  PointTable table = options.columns.empty() ? given : select(given, options.columns);
  if (!options.columns.empty()) note_dropped(given, options.columns, report);
  std::string bytes;
  if (ending == ".las") {
    table = finite_rows(table);
    report.rows_dropped = given.rows() - table.rows();
    bytes = encode_las(table, report);
  } else if (ending == ".bin") {
    bytes = encode_bin(table, path.string(), !options.columns.empty(), report);
  } else {
    report.written = table.names;
    bytes = ending == ".ply"   ? encode_ply_points(table, options.ascii)
            : ending == ".pcd" ? encode_pcd(table, options.ascii)
                               : encode_array(table, ending == ".npz");
  }
  report.rows = table.rows();
  write_file(path, bytes);
  return report;
}

}  // namespace aerogel::io
