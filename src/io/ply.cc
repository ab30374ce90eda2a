// Polygon files: the vertex element's scalars become columns; other elements and all lists are walked over.
//   source   Greg Turk, "The PLY Polygon File Format", 1994
#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "aerogel/io.h"

#include "io/byte_reader.h"
#include "io/parsers.h"
#include "io/ply_header.h"

namespace aerogel::io {
namespace {

/// A list's length as it stands in the file.
std::uint64_t list_length(const ByteReader& reader, std::uint64_t offset, double value,
                          const PlyProperty& list) {
  if (!(value >= 0 && value <= 4294967295.0) ||
      value != static_cast<double>(static_cast<std::uint64_t>(value))) {
    reader.fail_at(offset, fmt::format("expected the length of list {}, found {}", list.name, value));
  }
  return static_cast<std::uint64_t>(value);
}

/// Where the scalars of an element go: nowhere unless it is the vertex element.
class ColumnSink {
 public:
  ColumnSink(const PlyElement& element, PointTable* table) : table_(table) {
    if (table_ == nullptr) return;
    for (const PlyProperty& property : element.properties) {
      if (!property.length) table_->names.push_back(property.name);
    }
    table_->columns.assign(table_->names.size(), std::vector<double>(element.rows));
  }
  void begin_row(std::uint64_t row) {
    row_ = row;
    column_ = 0;
  }
  void push(double value) {
    if (table_ != nullptr) table_->columns[column_++][row_] = value;
  }

 private:
  PointTable* table_;
  std::uint64_t row_ = 0;
  std::size_t column_ = 0;
};

/// Refuses a row count that the rest of the file cannot hold, before anything of that size is allocated.
void check_rows(const ByteReader& reader, const PlyElement& element, std::uint64_t row,
                std::uint64_t available) {
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(element.rows, row, &total) || total > available) {
    reader.fail(fmt::format("expected {} rows of element {}, at least {} bytes each, found {} bytes",
                            element.rows, element.name, row, available));
  }
}

double read_scalar(ByteReader& reader, DType dtype, std::endian order, const std::string& name) {
  double value = 0;
  decode_column(reader.take(itemsize(dtype), name).data(), 0, dtype, order, {&value, 1});
  return value;
}

/// Rows of one size, a column at a time.
void read_packed(ByteReader& reader, const PlyElement& element, std::endian order, PointTable* table) {
  const std::uint64_t row = element.least_row_bytes();
  const char* data = reader.take(row * element.rows, element.name).data();
  const ColumnSink sink(element, table);
  for (std::size_t i = 0; table != nullptr && element.rows > 0 && i < element.properties.size(); ++i) {
    decode_column(data, row, element.properties[i].dtype, order, table->columns[i]);
    data += itemsize(element.properties[i].dtype);
  }
}

void read_binary(ByteReader& reader, const PlyElement& element, std::endian order, PointTable* table) {
  check_rows(reader, element, element.least_row_bytes(), reader.remaining());
  if (!element.has_list()) return read_packed(reader, element, order, table);
  ColumnSink sink(element, table);
  for (std::uint64_t row = 0; row < element.rows; ++row) {
    sink.begin_row(row);
    for (const PlyProperty& property : element.properties) {
      if (!property.length) {
        sink.push(read_scalar(reader, property.dtype, order, property.name));
        continue;
      }
      const std::uint64_t offset = reader.offset();
      const double length = read_scalar(reader, *property.length, order, property.name);
      reader.take(list_length(reader, offset, length, property) * itemsize(property.dtype), property.name);
    }
  }
}

void read_ascii_row(const ByteReader& reader, std::uint64_t offset, std::string_view words,
                    const PlyElement& element, ColumnSink& sink) {
  const auto number = [&](const PlyProperty& property) {
    const std::string_view word = next_word(words);
    double value = 0;
    if (!parse_number(word, value)) {
      reader.fail_at(offset, fmt::format("expected a number for {}.{}, found {}", element.name, property.name,
                                         excerpt(word)));
    }
    return value;
  };
  for (const PlyProperty& property : element.properties) {
    const double value = number(property);
    if (!property.length) {
      sink.push(value);
      continue;
    }
    for (std::uint64_t i = list_length(reader, offset, value, property); i > 0; --i) number(property);
  }
  const std::string_view more = next_word(words);
  if (!more.empty()) {
    reader.fail_at(offset,
                   fmt::format("expected the end of a row of {}, found {}", element.name, excerpt(more)));
  }
}

void read_ascii(ByteReader& reader, const PlyElement& element, PointTable* table) {
  // A value takes a digit and a separator; the last one may lack its newline.
  check_rows(reader, element, 2 * element.properties.size(), reader.remaining() + 1);
  ColumnSink sink(element, table);
  for (std::uint64_t row = 0; row < element.rows;) {
    if (reader.at_end()) {
      reader.fail(fmt::format("expected {} rows of element {}, found {}", element.rows, element.name, row));
    }
    const std::uint64_t offset = reader.offset();
    const std::string_view words = reader.line();
    if (words.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    sink.begin_row(row++);
    read_ascii_row(reader, offset, words, element, sink);
  }
}

}  // namespace

PointTable parse_ply(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const PlyHeader header = read_ply_header(reader);
  PointTable table;
  for (const PlyElement& element : header.elements) {
    PointTable* vertices = element.name == "vertex" ? &table : nullptr;
    if (header.order) {
      read_binary(reader, element, *header.order, vertices);
    } else {
      read_ascii(reader, element, vertices);
    }
  }
  reader.expect_end();
  return table;
}

PointTable read_ply(const Path& path) { return parse_ply(read_file(path), path.string()); }

}  // namespace aerogel::io
