// Point Cloud Data of PCL, versions 0.5 to 0.7.
//   source   https://pointclouds.org/documentation/tutorials/pcd_file_format.html
#include "io/pcd_header.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

struct Line {
  std::uint64_t offset = 0;
  std::string_view words;
};
using Lines = std::map<std::string, Line, std::less<>>;

/// The header's lines by keyword, up to and with DATA; COLUMNS is version 0.5's word for FIELDS.
Lines split_header(ByteReader& reader) {
  constexpr std::string_view kKnown[] = {"VERSION", "FIELDS", "SIZE",      "TYPE",   "COUNT",
                                         "WIDTH",   "HEIGHT", "VIEWPOINT", "POINTS", "DATA"};
  Lines lines;
  while (!lines.contains("DATA")) {
    if (reader.at_end()) reader.fail("expected a DATA line, found the end of the file");
    const std::uint64_t offset = reader.offset();
    std::string_view words = reader.line();
    std::string_view keyword = next_word(words);
    if (keyword.empty() || keyword[0] == '#') continue;
    if (keyword == "COLUMNS") keyword = "FIELDS";
    if (std::find(std::begin(kKnown), std::end(kKnown), keyword) == std::end(kKnown)) {
      reader.fail_at(offset, fmt::format("expected a PCD header line, found {}", excerpt(keyword)));
    }
    if (!lines.emplace(keyword, Line{offset, words}).second) {
      reader.fail_at(offset, fmt::format("expected one {} line, found another", keyword));
    }
  }
  return lines;
}

const Line& required(const ByteReader& reader, const Lines& lines, std::string_view keyword) {
  const auto found = lines.find(keyword);
  if (found == lines.end()) {
    reader.fail_at(lines.at("DATA").offset,
                   fmt::format("expected a {} line before this, found none", keyword));
  }
  return found->second;
}

/// The next word of a header line as a number from `least` to 2^63 - 1.
std::uint64_t count_word(const ByteReader& reader, Line& line, std::string_view keyword,
                         std::uint64_t least) {
  const std::string_view word = next_word(line.words);
  std::uint64_t value = 0;
  if (!parse_count(word, value) || value < least) {
    reader.fail_at(line.offset, fmt::format("expected numbers of at least {} after {}, found {}", least,
                                            keyword, excerpt(word)));
  }
  return value;
}

void end_of_line(const ByteReader& reader, Line line, std::string_view keyword, std::size_t values) {
  const std::string_view word = next_word(line.words);
  if (!word.empty()) {
    reader.fail_at(line.offset,
                   fmt::format("expected {} values after {}, found also {}", values, keyword, excerpt(word)));
  }
}

std::uint64_t single_count(const ByteReader& reader, Line line, std::string_view keyword) {
  const std::uint64_t value = count_word(reader, line, keyword, 0);
  end_of_line(reader, line, keyword, 1);
  return value;
}

DType field_dtype(const ByteReader& reader, const Line& types, std::string_view type, std::uint64_t size) {
  static const std::map<std::pair<std::string_view, std::uint64_t>, DType> kTypes = {
      {{"F", 4}, DType::kF32}, {{"F", 8}, DType::kF64}, {{"I", 1}, DType::kI8}, {{"I", 2}, DType::kI16},
      {{"I", 4}, DType::kI32}, {{"I", 8}, DType::kI64}, {{"U", 1}, DType::kU8}, {{"U", 2}, DType::kU16},
      {{"U", 4}, DType::kU32}, {{"U", 8}, DType::kU64}};
  const auto found = kTypes.find({type, size});
  if (found == kTypes.end()) {
    reader.fail_at(types.offset,
                   fmt::format("expected TYPE F of SIZE 4 or 8, or I or U of 1, 2, 4 or 8, found {} of {}",
                               excerpt(type), size));
  }
  return found->second;
}

std::vector<PcdField> read_fields(const ByteReader& reader, const Lines& lines) {
  constexpr std::uint64_t kMaxCount = 1u << 20;  // keeps the sums of bytes far from 64 bits
  Line names = required(reader, lines, "FIELDS");
  Line sizes = required(reader, lines, "SIZE");
  Line types = required(reader, lines, "TYPE");
  const bool counted = lines.contains("COUNT");
  Line counts = counted ? lines.find("COUNT")->second : Line{};
  std::vector<PcdField> fields;
  for (std::string_view name = next_word(names.words); !name.empty(); name = next_word(names.words)) {
    PcdField field;
    field.name = lower_case(name);
    const std::uint64_t size = count_word(reader, sizes, "SIZE", 1);
    field.dtype = field_dtype(reader, types, next_word(types.words), size);
    if (counted) field.count = count_word(reader, counts, "COUNT", 1);
    if (field.count > kMaxCount) {
      reader.fail_at(counts.offset, fmt::format("expected COUNT up to {}, found {}", kMaxCount, field.count));
    }
    fields.push_back(field);
  }
  end_of_line(reader, sizes, "SIZE", fields.size());
  end_of_line(reader, types, "TYPE", fields.size());
  if (counted) end_of_line(reader, counts, "COUNT", fields.size());
  return fields;
}

std::uint64_t read_point_count(const ByteReader& reader, const Lines& lines) {
  const auto given = lines.find("POINTS");
  if (given != lines.end() && !lines.contains("WIDTH")) return single_count(reader, given->second, "POINTS");
  const Line& width_line = required(reader, lines, "WIDTH");
  const std::uint64_t width = single_count(reader, width_line, "WIDTH");
  const std::uint64_t height =
      lines.contains("HEIGHT") ? single_count(reader, lines.at("HEIGHT"), "HEIGHT") : 1;
  std::uint64_t points = 0;
  if (__builtin_mul_overflow(width, height, &points)) {
    reader.fail_at(width_line.offset,
                   fmt::format("expected WIDTH · HEIGHT in 64 bits, found {} · {}", width, height));
  }
  if (given == lines.end()) return points;
  const std::uint64_t claimed = single_count(reader, given->second, "POINTS");
  if (claimed != points) {
    reader.fail_at(given->second.offset,
                   fmt::format("expected POINTS {} = WIDTH · HEIGHT, found {}", points, claimed));
  }
  return points;
}

}  // namespace

PcdHeader read_pcd_header(ByteReader& reader) {
  const Lines lines = split_header(reader);
  PcdHeader header;
  header.fields = read_fields(reader, lines);
  header.points = read_point_count(reader, lines);
  Line data = lines.at("DATA");
  header.data_line = data.offset;
  header.encoding = next_word(data.words);
  end_of_line(reader, data, "DATA", 1);
  return header;
}

}  // namespace aerogel::io
