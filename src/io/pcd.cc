// Point Cloud Data of PCL: text, interleaved binary, and field after field under LZF.
//   source   https://pointclouds.org/documentation/tutorials/pcd_file_format.html
#include <fmt/core.h>

#include "aerogel/io.h"

#include "io/byte_reader.h"
#include "io/lzf.h"
#include "io/parsers.h"
#include "io/pcd_header.h"

namespace aerogel::io {
namespace {

/// Named, still empty columns: name, or name_0, name_1, … where COUNT is past one.
PointTable name_columns(const ByteReader& reader, const PcdHeader& header) {
  PointTable table;
  for (const PcdField& field : header.fields) {
    for (std::uint64_t i = 0; i < field.count && !field.is_padding(); ++i) {
      table.dtypes.push_back(field.dtype);
      table.names.push_back(field.count == 1 ? field.name : fmt::format("{}_{}", field.name, i));
      if (table.names.size() > kMaxColumns) {
        reader.fail_at(header.data_line, fmt::format("expected at most {} columns, found more", kMaxColumns));
      }
    }
  }
  if (table.names.empty()) reader.fail_at(header.data_line, "expected at least one named field, found none");
  if (const std::string* repeated = find_repeated(table.names)) {
    reader.fail_at(header.data_line, fmt::format("expected distinct field names, found {} twice", *repeated));
  }
  return table;
}

/// Refuses a row count that `available` bytes cannot hold, before anything of that size is allocated.
std::uint64_t total_bytes(const ByteReader& reader, const PcdHeader& header, std::uint64_t row,
                          std::uint64_t available) {
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(header.points, row, &total) || total > available) {
    reader.fail(fmt::format("expected {} points of at least {} bytes, found {} bytes", header.points, row,
                            available));
  }
  return total;
}

void read_ascii(ByteReader& reader, const PcdHeader& header, PointTable& table) {
  // A value takes a digit and a separator; the last one may lack its newline.
  total_bytes(reader, header, 2 * header.row_values(), reader.remaining() + 1);
  table.columns.assign(table.names.size(), std::vector<double>(header.points));
  for (std::uint64_t row = 0; row < header.points;) {
    if (reader.at_end()) reader.fail(fmt::format("expected {} points, found {}", header.points, row));
    const std::uint64_t offset = reader.offset();
    std::string_view words = reader.line();
    std::string_view word = next_word(words);
    if (word.empty()) continue;
    std::size_t column = 0;
    for (const PcdField& field : header.fields) {
      for (std::uint64_t i = 0; i < field.count; ++i, word = next_word(words)) {
        double value = 0;
        if (!parse_number(word, value)) {
          reader.fail_at(offset,
                         fmt::format("expected {} numbers, found {}", header.row_values(), excerpt(word)));
        }
        if (!field.is_padding()) table.columns[column++][row] = value;
      }
    }
    if (!word.empty()) {
      reader.fail_at(offset, fmt::format("expected {} numbers, found more", header.row_values()));
    }
    ++row;
  }
  reader.expect_end();
}

/// Interleaved rows, or field after field as the compressed form has it; COUNT values of a point stay
/// together in both.
void decode_fields(const PcdHeader& header, const char* data, bool field_major, PointTable& table) {
  table.columns.assign(table.names.size(), std::vector<double>(header.points));
  if (header.points == 0) return;
  const std::uint64_t row = header.row_bytes();
  std::size_t column = 0;
  for (const PcdField& field : header.fields) {
    for (std::uint64_t i = 0; i < field.count && !field.is_padding(); ++i) {
      decode_column(data + i * itemsize(field.dtype), field_major ? field.bytes() : row, field.dtype,
                    std::endian::little, table.columns[column++]);
    }
    data += field_major ? field.bytes() * header.points : field.bytes();
  }
}

void read_compressed(ByteReader& reader, PcdHeader& header, PointTable& table) {
  const std::uint64_t sizes_at = reader.offset();
  const std::uint64_t packed = reader.little<std::uint32_t>("the compressed size");
  const std::uint64_t size = reader.little<std::uint32_t>("the uncompressed size");
  if (size > packed * kLzfMaxRatio) {
    reader.fail_at(sizes_at + 4, fmt::format("expected at most {} bytes from {} of LZF, found a claim of {}",
                                             packed * kLzfMaxRatio, packed, size));
  }
  // PCL leaves padding fields out of this form but other writers keep them: the size tells which.
  PcdHeader named = header;
  std::erase_if(named.fields, [](const PcdField& field) { return field.is_padding(); });
  if (total_bytes(reader, named, named.row_bytes(), size) == size) header = named;
  if (total_bytes(reader, header, header.row_bytes(), size) != size) {
    reader.fail_at(sizes_at + 4, fmt::format("expected {} uncompressed bytes, found {}",
                                             header.points * header.row_bytes(), size));
  }
  const std::uint64_t packed_at = reader.offset();
  const std::string_view body = reader.take(packed, "compressed points");
  std::string data(size, '\0');
  if (const auto bad = lzf_unpack(body, data.data(), data.size())) {
    reader.fail_at(packed_at + *bad,
                   fmt::format("expected LZF data that yields {} bytes, found other data", size));
  }
  decode_fields(header, data.data(), true, table);
  reader.expect_end();  // PCL pads the file to a page with zeros
}

}  // namespace

PointTable parse_pcd(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  PcdHeader header = read_pcd_header(reader);
  PointTable table = name_columns(reader, header);
  if (header.encoding == "ascii") {
    read_ascii(reader, header, table);
  } else if (header.encoding == "binary") {
    const std::uint64_t size = total_bytes(reader, header, header.row_bytes(), reader.remaining());
    decode_fields(header, reader.take(size, "points").data(), false, table);
    reader.expect_end();
  } else if (header.encoding == "binary_compressed") {
    read_compressed(reader, header, table);
  } else {
    reader.fail_at(header.data_line, fmt::format("expected DATA ascii, binary or binary_compressed, found {}",
                                                 excerpt(header.encoding)));
  }
  return table;
}

PointTable read_pcd(const Path& path) { return parse_pcd(read_file(path), path.string()); }

}  // namespace aerogel::io
