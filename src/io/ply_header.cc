#include "io/ply_header.h"

#include <map>
#include <set>

#include <fmt/core.h>

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

DType scalar_type(const ByteReader& reader, std::uint64_t offset, std::string_view word) {
  static const std::map<std::string_view, DType> kTypes = {
      {"char", DType::kI8},   {"int8", DType::kI8},     {"uchar", DType::kU8},   {"uint8", DType::kU8},
      {"short", DType::kI16}, {"int16", DType::kI16},   {"ushort", DType::kU16}, {"uint16", DType::kU16},
      {"int", DType::kI32},   {"int32", DType::kI32},   {"uint", DType::kU32},   {"uint32", DType::kU32},
      {"float", DType::kF32}, {"float32", DType::kF32}, {"double", DType::kF64}, {"float64", DType::kF64}};
  const auto found = kTypes.find(word);
  if (found == kTypes.end())
    reader.fail_at(offset, fmt::format("expected a PLY type, found {}", excerpt(word)));
  return found->second;
}

std::optional<std::endian> read_format(const ByteReader& reader, std::uint64_t offset,
                                       std::string_view words) {
  const std::string_view format = next_word(words);
  const std::string_view version = next_word(words);
  if (version != "1.0")
    reader.fail_at(offset, fmt::format("expected PLY version 1.0, found {}", excerpt(version)));
  if (format == "binary_little_endian") return std::endian::little;
  if (format == "binary_big_endian") return std::endian::big;
  if (format == "ascii") return std::nullopt;
  reader.fail_at(offset,
                 fmt::format("expected format ascii, binary_little_endian or binary_big_endian, found {}",
                             excerpt(format)));
}

PlyElement read_element(const ByteReader& reader, std::uint64_t offset, std::string_view words) {
  PlyElement element;
  element.name = next_word(words);
  const std::string_view rows = next_word(words);
  if (element.name.empty() || !parse_count(rows, element.rows)) {
    reader.fail_at(offset,
                   fmt::format("expected the name and row count of an element, found {}", excerpt(rows)));
  }
  return element;
}

PlyProperty read_property(const ByteReader& reader, std::uint64_t offset, std::string_view words) {
  PlyProperty property;
  std::string_view type = next_word(words);
  if (type == "list") {
    property.length = scalar_type(reader, offset, next_word(words));
    if (property.length == DType::kF32 || property.length == DType::kF64) {
      reader.fail_at(offset, "expected an integer type for the length of a list, found a float");
    }
    type = next_word(words);
  }
  property.dtype = scalar_type(reader, offset, type);
  property.name = lower_case(next_word(words));
  if (property.name.empty()) reader.fail_at(offset, "expected the name of a property, found nothing");
  return property;
}

void check_elements(const ByteReader& reader, const PlyHeader& header) {
  std::set<std::string> names;
  for (const PlyElement& element : header.elements) {
    if (!names.insert(element.name).second) {
      reader.fail(fmt::format("expected distinct elements, found {} twice", element.name));
    }
    if (element.properties.empty() && element.rows > 0) {
      reader.fail(fmt::format("expected properties of element {}, found none", element.name));
    }
    std::vector<std::string> scalars;
    for (const PlyProperty& property : element.properties) {
      if (!property.length) scalars.push_back(property.name);
    }
    if (element.name != "vertex") continue;
    if (const std::string* repeated = find_repeated(scalars)) {
      reader.fail(fmt::format("expected distinct vertex properties, found {} twice", *repeated));
    }
    if (scalars.empty() || scalars.size() > kMaxColumns) {
      reader.fail(
          fmt::format("expected 1 to {} scalar vertex properties, found {}", kMaxColumns, scalars.size()));
    }
  }
  if (!names.contains("vertex")) reader.fail("expected an element vertex, found none");
}

}  // namespace

PlyHeader read_ply_header(ByteReader& reader) {
  const std::string_view magic = reader.line();
  if (magic != "ply") reader.fail_at(0, fmt::format("expected \"ply\", found {}", excerpt(magic)));
  PlyHeader header;
  bool has_format = false;
  for (;;) {
    if (reader.at_end()) reader.fail("expected end_header, found the end of the file");
    const std::uint64_t offset = reader.offset();
    std::string_view words = reader.line();
    const std::string_view keyword = next_word(words);
    if (keyword.empty() || keyword == "comment" || keyword == "obj_info") continue;
    if (keyword == "end_header") break;
    if (keyword == "format" && !has_format) {
      header.order = read_format(reader, offset, words);
      has_format = true;
    } else if (keyword == "element") {
      header.elements.push_back(read_element(reader, offset, words));
    } else if (keyword == "property" && !header.elements.empty()) {
      header.elements.back().properties.push_back(read_property(reader, offset, words));
    } else {
      reader.fail_at(offset, fmt::format("expected a PLY header line, found {}", excerpt(keyword)));
    }
  }
  if (!has_format) reader.fail("expected a format line, found none");
  check_elements(reader, header);
  return header;
}

}  // namespace aerogel::io
