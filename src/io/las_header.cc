// Layouts of LAS 1.0 to 1.4: 1.0 and 1.1 differ from 1.2 only in fields that are passed over here.
//   source   ASPRS, "LAS Specification 1.4 - R15", tables 3 to 24
#include "io/las_header.h"

#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "io/parsers.h"

namespace aerogel::io {
namespace {

constexpr std::uint64_t kRecordBytes[] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
constexpr std::uint64_t kScaleAt = 131;
constexpr double kScanAngleStep = 0.006;  // degrees, of formats 6 to 10

bool is_extended(int format) { return format >= 6; }
bool has_time(int format) { return format != 0 && format != 2; }
bool has_colour(int format) {
  return format == 2 || format == 3 || format == 5 || format == 7 || format == 8 || format == 10;
}
bool has_infrared(int format) { return format == 8 || format == 10; }

/// Fields that formats 0 to 5 share.
std::vector<LasField> legacy_fields() {
  return {{"return_number", 14, DType::kU8, 0, 3},  {"number_of_returns", 14, DType::kU8, 3, 3},
          {"scan_direction", 14, DType::kU8, 6, 1}, {"edge_of_flight_line", 14, DType::kU8, 7, 1},
          {"classification", 15, DType::kU8, 0, 5}, {"synthetic", 15, DType::kU8, 5, 1},
          {"key_point", 15, DType::kU8, 6, 1},      {"withheld", 15, DType::kU8, 7, 1},
          {"scan_angle", 16, DType::kI8},           {"user_data", 17, DType::kU8},
          {"point_source_id", 18, DType::kU16}};
}

/// Fields that formats 6 to 10 share.
std::vector<LasField> extended_fields() {
  return {{"return_number", 14, DType::kU8, 0, 4},
          {"number_of_returns", 14, DType::kU8, 4, 4},
          {"synthetic", 15, DType::kU8, 0, 1},
          {"key_point", 15, DType::kU8, 1, 1},
          {"withheld", 15, DType::kU8, 2, 1},
          {"overlap", 15, DType::kU8, 3, 1},
          {"scanner_channel", 15, DType::kU8, 4, 2},
          {"scan_direction", 15, DType::kU8, 6, 1},
          {"edge_of_flight_line", 15, DType::kU8, 7, 1},
          {"classification", 16, DType::kU8},
          {"user_data", 17, DType::kU8},
          {"scan_angle", 18, DType::kI16, 0, 0, kScanAngleStep},
          {"point_source_id", 20, DType::kU16}};
}

/// Text in a field of fixed length, up to its first zero byte.
std::string fixed_text(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

/// The columns that one description of 192 bytes declares; `at` moves past them.
void read_extra_field(ByteReader& reader, std::uint64_t& at, std::vector<LasField>& fields) {
  constexpr DType kTypes[] = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16, DType::kU32,
                              DType::kI32, DType::kU64, DType::kI64, DType::kF32, DType::kF64};
  const std::uint64_t begin = reader.offset();
  reader.take(2, "extra bytes");
  const int type = reader.little<std::uint8_t>("the type of extra bytes");
  const int options = reader.little<std::uint8_t>("the options of extra bytes");
  const std::string name = lower_case(fixed_text(reader.take(32, "the name of extra bytes")));
  reader.take(4 + 3 * 24, "the limits of extra bytes");
  double scale[3];
  double shift[3];
  for (double& value : scale) value = reader.little<double>("the scale of extra bytes");
  for (double& value : shift) value = reader.little<double>("the offset of extra bytes");
  reader.take(32, "the description of extra bytes");
  if (type == 0) {  // undocumented bytes, as many as the options say
    at += static_cast<std::uint64_t>(options);
    return;
  }
  if (type > 30) {
    reader.fail_at(begin + 2, fmt::format("expected extra bytes of type 0 to 30, found {}", type));
  }
  if (name.empty()) reader.fail_at(begin + 4, "expected the name of extra bytes, found nothing");
  const DType dtype = kTypes[(type - 1) % 10];
  const int count = (type - 1) / 10 + 1;  // types 11 to 30 are pairs and triples
  for (int i = 0; i < count; ++i, at += itemsize(dtype)) {
    LasField field{count == 1 ? name : fmt::format("{}_{}", name, i), at, dtype};
    if ((options & 8) != 0) field.scale = scale[i];
    if ((options & 16) != 0) field.shift = shift[i];
    fields.push_back(std::move(field));
  }
}

void read_extra_fields(ByteReader& reader, std::uint64_t length, LasHeader& header) {
  constexpr std::uint64_t kDescription = 192;
  if (length % kDescription != 0) {
    reader.fail(
        fmt::format("expected extra bytes described by {} bytes each, found {}", kDescription, length));
  }
  std::uint64_t at = kRecordBytes[header.format];
  for (std::uint64_t i = 0; i < length / kDescription; ++i) {
    const std::uint64_t begin = reader.offset();
    read_extra_field(reader, at, header.fields);
    if (at > header.record) {
      reader.fail_at(begin, fmt::format("expected extra bytes inside a point record of {}, found them to end "
                                        "at byte {}",
                                        header.record, at));
    }
    if (header.fields.size() > kMaxColumns) {
      reader.fail_at(begin, fmt::format("expected at most {} columns, found more", kMaxColumns));
    }
  }
}

/// Walks `count` records from here on; the extra-bytes record among them adds fields.
void read_records(ByteReader& reader, std::uint64_t count, bool extended, bool& has_extra,
                  LasHeader& header) {
  constexpr std::uint16_t kExtraBytes = 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = reader.offset();
    reader.take(2, "a record");
    const std::string user = fixed_text(reader.take(16, "the user of a record"));
    const auto id = reader.little<std::uint16_t>("the number of a record");
    const std::uint64_t length = extended ? reader.little<std::uint64_t>("the length of a record")
                                          : reader.little<std::uint16_t>("the length of a record");
    reader.take(32, "the description of a record");
    const std::uint64_t body = reader.offset();
    reader.take(length, "a record");
    if (user != "LASF_Spec" || id != kExtraBytes) continue;
    if (has_extra) reader.fail_at(begin, "expected one description of the extra bytes, found two");
    has_extra = true;
    reader.seek(body, "a record");
    read_extra_fields(reader, length, header);
  }
}

struct Places {
  std::uint64_t header = 0;  // bytes
  std::uint64_t records = 0;
  std::uint64_t extended_at = 0;
  std::uint64_t extended = 0;
};

void check_format(const ByteReader& reader, int stored, LasHeader& header) {
  constexpr std::uint64_t kFormatAt = 104;
  if ((stored & 0xc0) != 0) {
    reader.fail_at(kFormatAt, "expected plain points, found points compressed by LASzip (.laz)");
  }
  if (stored > 10) reader.fail_at(kFormatAt, fmt::format("expected point format 0 to 10, found {}", stored));
  header.format = stored;
  if (header.record < kRecordBytes[stored]) {
    reader.fail_at(kFormatAt + 1, fmt::format("expected records of at least {} bytes for point format {}, "
                                              "found {}",
                                              kRecordBytes[stored], stored, header.record));
  }
}

/// Scale and offset of x, y and z, from kScaleAt on.
void read_scales(ByteReader& reader, std::vector<LasField>& fields) {
  reader.seek(kScaleAt, "the scales");
  for (std::size_t axis = 0; axis < 3; ++axis) fields[axis].scale = reader.little<double>("a scale");
  for (std::size_t axis = 0; axis < 3; ++axis) fields[axis].shift = reader.little<double>("an offset");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const LasField& field = fields[axis];
    if (!std::isfinite(field.scale) || field.scale == 0 || !std::isfinite(field.shift)) {
      reader.fail_at(kScaleAt + 8 * axis,
                     fmt::format("expected a finite scale other than 0 and a finite offset of {}, found {} "
                                 "and {}",
                                 field.name, field.scale, field.shift));
    }
  }
}

Places read_public_header(ByteReader& reader, LasHeader& header) {
  const std::string_view magic = reader.take(4, "\"LASF\"");
  if (magic != "LASF") reader.fail_at(0, fmt::format("expected \"LASF\", found {}", excerpt(magic)));
  reader.seek(24, "the version");
  const int major = reader.little<std::uint8_t>("the version");
  const int minor = reader.little<std::uint8_t>("the version");
  if (major != 1 || minor > 4) {
    reader.fail_at(24, fmt::format("expected LAS 1.0 to 1.4, found {}.{}", major, minor));
  }
  const std::uint64_t least = minor == 4 ? 375 : minor == 3 ? 235 : 227;
  Places places;
  reader.seek(94, "the header size");
  places.header = reader.little<std::uint16_t>("the header size");
  header.points_at = reader.little<std::uint32_t>("the offset of the points");
  places.records = reader.little<std::uint32_t>("the number of records");
  const int format = reader.little<std::uint8_t>("the point format");
  header.record = reader.little<std::uint16_t>("the record length");
  header.points = reader.little<std::uint32_t>("the number of points");
  if (places.header < least) {
    reader.fail_at(94, fmt::format("expected a header of at least {} bytes, found {}", least, places.header));
  }
  if (header.points_at < places.header) {
    reader.fail_at(96, fmt::format("expected points behind the header of {} bytes, found them at byte {}",
                                   places.header, header.points_at));
  }
  check_format(reader, format, header);
  header.fields = las_fields(header.format);
  read_scales(reader, header.fields);
  if (minor < 4) return places;
  reader.seek(235, "the extended records");
  places.extended_at = reader.little<std::uint64_t>("the offset of extended records");
  places.extended = reader.little<std::uint32_t>("the number of extended records");
  const std::uint64_t old_count = header.points;
  header.points = reader.little<std::uint64_t>("the number of points");
  if (old_count != 0 && old_count != header.points) {
    reader.fail_at(247, fmt::format("expected the number of points {} that stands at byte 107, found {}",
                                    old_count, header.points));
  }
  return places;
}

}  // namespace

std::vector<LasField> las_fields(int format) {
  std::vector<LasField> fields = {
      {"x", 0, DType::kI32}, {"y", 4, DType::kI32}, {"z", 8, DType::kI32}, {"intensity", 12, DType::kU16}};
  for (LasField& field : is_extended(format) ? extended_fields() : legacy_fields()) {
    fields.push_back(std::move(field));
  }
  std::uint64_t at = is_extended(format) ? 22 : 20;
  if (has_time(format)) {
    fields.push_back({"gps_time", at, DType::kF64});
    at += 8;
  }
  if (has_colour(format)) {
    for (const char* name : {"red", "green", "blue"}) {
      fields.push_back({name, at, DType::kU16});
      at += 2;
    }
  }
  if (has_infrared(format)) fields.push_back({"nir", at, DType::kU16});
  return fields;  // a wave packet, where there is one, stands behind these and is passed over
}

std::uint64_t las_record_bytes(int format) { return kRecordBytes[format]; }

LasHeader read_las_header(ByteReader& reader) {
  const std::uint64_t size = reader.offset() + reader.remaining();
  LasHeader header;
  const Places places = read_public_header(reader, header);
  if (header.points_at > size) {
    reader.fail_at(96, fmt::format("expected points inside a file of {} bytes, found them at byte {}", size,
                                   header.points_at));
  }
  reader.seek(header.points_at, "the points");
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(header.points, header.record, &total) || total > reader.remaining()) {
    reader.fail(fmt::format("expected {} points of {} bytes, found {} bytes", header.points, header.record,
                            reader.remaining()));
  }
  bool has_extra = false;
  reader.seek(places.header, "the records");
  read_records(reader, places.records, false, has_extra, header);
  if (reader.offset() > header.points_at) {
    reader.fail_at(header.points_at,
                   fmt::format("expected {} records in front of the points, found them to end at byte {}",
                               places.records, reader.offset()));
  }
  if (places.extended > 0) {
    if (places.extended_at < header.points_at + total || places.extended_at > size) {
      reader.fail_at(235, fmt::format("expected extended records behind the points, from byte {} to {}, "
                                      "found them at byte {}",
                                      header.points_at + total, size, places.extended_at));
    }
    reader.seek(places.extended_at, "the extended records");
    read_records(reader, places.extended, true, has_extra, header);
  }
  std::vector<std::string> names;
  for (const LasField& field : header.fields) names.push_back(field.name);
  if (const std::string* repeated = find_repeated(names)) {
    reader.fail_at(places.header, fmt::format("expected distinct columns, found {} twice", *repeated));
  }
  return header;
}

}  // namespace aerogel::io
