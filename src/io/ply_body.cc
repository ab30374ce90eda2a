#include "io/ply_body.h"

#include <fmt/core.h>

#include "io/numbers.h"

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
void read_packed(ByteReader& reader, const PlyElement& element, std::endian order, PlySink& sink) {
  sink.begin(element);
  const std::uint64_t row = element.least_row_bytes();
  const char* data = reader.take(row * element.rows, element.name).data();
  PointTable* table = sink.table();
  for (std::size_t i = 0; table != nullptr && element.rows > 0 && i < element.properties.size(); ++i) {
    decode_column(data, row, element.properties[i].dtype, order, table->columns[i]);
    data += itemsize(element.properties[i].dtype);
  }
}

void read_binary(ByteReader& reader, const PlyElement& element, std::endian order, PlySink& sink) {
  check_rows(reader, element, element.least_row_bytes(), reader.remaining());
  if (!element.has_list()) return read_packed(reader, element, order, sink);
  sink.begin(element);
  std::vector<double> values;
  for (std::uint64_t row = 0; row < element.rows; ++row) {
    sink.begin_row(row);
    for (const PlyProperty& property : element.properties) {
      if (!property.length) {
        sink.scalar(read_scalar(reader, property.dtype, order, property.name));
        continue;
      }
      const std::uint64_t offset = reader.offset();
      const double stored = read_scalar(reader, *property.length, order, property.name);
      const std::uint64_t length = list_length(reader, offset, stored, property);
      const std::string_view data = reader.take(length * itemsize(property.dtype), property.name);
      if (!sink.wants_list(property)) continue;
      values.resize(length);
      if (length > 0) decode_column(data.data(), itemsize(property.dtype), property.dtype, order, values);
      sink.list(offset, values);
    }
  }
}

void read_ascii_row(const ByteReader& reader, std::uint64_t offset, std::string_view words,
                    const PlyElement& element, std::vector<double>& values, PlySink& sink) {
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
      sink.scalar(value);
      continue;
    }
    const bool wanted = sink.wants_list(property);
    values.clear();
    for (std::uint64_t i = list_length(reader, offset, value, property); i > 0; --i) {
      const double item = number(property);
      if (wanted) values.push_back(item);
    }
    if (wanted) sink.list(offset, values);
  }
  const std::string_view more = next_word(words);
  if (!more.empty()) {
    reader.fail_at(offset,
                   fmt::format("expected the end of a row of {}, found {}", element.name, excerpt(more)));
  }
}

void read_ascii(ByteReader& reader, const PlyElement& element, PlySink& sink) {
  // A value takes a digit and a separator; the last one may lack its newline.
  check_rows(reader, element, 2 * element.properties.size(), reader.remaining() + 1);
  sink.begin(element);
  std::vector<double> values;
  for (std::uint64_t row = 0; row < element.rows;) {
    if (reader.at_end()) {
      reader.fail(fmt::format("expected {} rows of element {}, found {}", element.rows, element.name, row));
    }
    const std::uint64_t offset = reader.offset();
    const std::string_view words = reader.line();
    if (words.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    sink.begin_row(row++);
    read_ascii_row(reader, offset, words, element, values, sink);
  }
}

}  // namespace

void PlyColumns::begin(const PlyElement& element) {
  for (const PlyProperty& property : element.properties) {
    if (property.length) continue;
    table_.names.push_back(property.name);
    table_.dtypes.push_back(property.dtype);
  }
  table_.columns.assign(table_.names.size(), std::vector<double>(element.rows));
}

void read_ply_body(ByteReader& reader, const PlyHeader& header,
                   const std::function<PlySink&(const PlyElement&)>& sink_of) {
  for (const PlyElement& element : header.elements) {
    PlySink& sink = sink_of(element);
    if (header.order) {
      read_binary(reader, element, *header.order, sink);
    } else {
      read_ascii(reader, element, sink);
    }
  }
  reader.expect_end();
}

}  // namespace aerogel::io
