#include <algorithm>
#include <cmath>

#include "io/las_header.h"
#include "io_testing.h"
#include "shared_data.h"

namespace aerogel::io {
namespace {

/// A .las by hand. What a test does not set is zero.
struct LasFile {
  int minor = 2;
  int format = 0;
  std::string points;        // the records' bytes
  std::uint64_t record = 0;  // 0: the format's own
  std::uint64_t count = 1;
  std::string front;  // variable length records
  std::uint32_t front_count = 0;
  std::string behind;  // extended ones
  std::uint32_t behind_count = 0;

  std::size_t head() const { return minor == 4 ? 375 : minor == 3 ? 235 : 227; }
  std::string bytes() const {
    std::string file(head(), '\0');
    const auto put = [&file](std::size_t at, const std::string& value) {
      file.replace(at, value.size(), value);
    };
    const bool extended = format >= 6;
    put(0, "LASF");
    put(24, raw(std::uint8_t{1}, static_cast<std::uint8_t>(minor)));
    put(94, raw(static_cast<std::uint16_t>(head()), static_cast<std::uint32_t>(head() + front.size()),
                front_count));
    put(104, raw(static_cast<std::uint8_t>(format)));
    put(105, raw(static_cast<std::uint16_t>(record == 0 ? las_record_bytes(format) : record),
                 static_cast<std::uint32_t>(extended ? 0 : count)));
    put(131, raw(0.01, 0.5, 2.0, 1000.0, 0.0, -1.0));
    if (minor == 4) {
      put(235, raw(static_cast<std::uint64_t>(head() + front.size() + points.size()), behind_count, count));
    }
    return file + front + points + behind;
  }
};

/// x, y, z, intensity as all formats begin.
std::string begin_point(std::int32_t x, std::int32_t y, std::int32_t z, std::uint16_t intensity) {
  return raw(x, y, z, intensity);
}

/// Values of row 0 by name; NaN if there is no such column.
double value(const PointTable& table, const std::string& name) {
  const int column = table.find(name);
  return column < 0 ? NAN : table.columns[static_cast<std::size_t>(column)][0];
}

/// A description of extra bytes: 192 bytes.
std::string describe(int type, int options, const std::string& name, double scale = 0, double shift = 0) {
  std::string text(192, '\0');
  text[2] = static_cast<char>(type);
  text[3] = static_cast<char>(options);
  text.replace(4, name.size(), name);
  text.replace(112, 8, raw(scale));
  text.replace(136, 8, raw(shift));
  return text;
}

std::string extra_record(const std::string& body, bool extended) {
  std::string head(20, '\0');
  head.replace(2, 9, "LASF_Spec");
  head[18] = 4;
  const std::string length =
      extended ? raw(static_cast<std::uint64_t>(body.size())) : raw(static_cast<std::uint16_t>(body.size()));
  return head + length + std::string(32, '\0') + body;
}

LasFile format_0() {
  LasFile file;
  file.points = begin_point(-250, 3, 7, 65535) + raw(std::uint8_t{0b10'010'001}, std::uint8_t{0b101'00110},
                                                     std::int8_t{-9}, std::uint8_t{8}, std::uint16_t{770});
  return file;
}

TEST(Las, ReadsFormat0) {
  const std::string bytes = format_0().bytes();
  const PointTable table = parse_las(bytes, "bytes");
  EXPECT_EQ(value(table, "x"), -250 * 0.01 + 1000);
  EXPECT_EQ(value(table, "y"), 1.5);
  EXPECT_EQ(value(table, "z"), 13);
  EXPECT_EQ(value(table, "intensity"), 65535);
  EXPECT_EQ(value(table, "return_number"), 1);
  EXPECT_EQ(value(table, "number_of_returns"), 2);
  EXPECT_EQ(value(table, "scan_direction"), 0);
  EXPECT_EQ(value(table, "edge_of_flight_line"), 1);
  EXPECT_EQ(value(table, "classification"), 6);
  EXPECT_EQ(value(table, "synthetic"), 1);
  EXPECT_EQ(value(table, "key_point"), 0);
  EXPECT_EQ(value(table, "withheld"), 1);
  EXPECT_EQ(value(table, "scan_angle"), -9);
  EXPECT_EQ(value(table, "user_data"), 8);
  EXPECT_EQ(value(table, "point_source_id"), 770);
  EXPECT_TRUE(std::isnan(value(table, "gps_time")));
  expect_no_prefix(bytes, [](std::string_view prefix) { parse_las(prefix, "bytes"); });
}

TEST(Las, ReadsTimeAndColoursOfFormats1To5) {
  const std::string base = format_0().points;
  const std::string time = raw(123456.75);
  const std::string colour = raw(std::uint16_t{1}, std::uint16_t{256}, std::uint16_t{65535});
  const std::string wave(29, 'w');
  const struct {
    int format;
    std::string point;
    bool has_time, has_colour;
  } cases[] = {{1, base + time, true, false},
               {2, base + colour, false, true},
               {3, base + time + colour, true, true},
               {4, base + time + wave, true, false},
               {5, base + time + colour + wave, true, true}};
  for (const auto& [format, point, has_time, has_colour] : cases) {
    LasFile file;
    file.minor = format > 3 ? 3 : 2;
    file.format = format;
    file.points = point;
    const PointTable table = parse_las(file.bytes(), "bytes");
    EXPECT_EQ(value(table, "classification"), 6) << format;
    EXPECT_EQ(table.find("gps_time") >= 0, has_time) << format;
    EXPECT_EQ(table.find("blue") >= 0, has_colour) << format;
    if (has_time) {
      EXPECT_EQ(value(table, "gps_time"), 123456.75) << format;
    }
    if (has_colour) {
      EXPECT_EQ(value(table, "red"), 1) << format;
      EXPECT_EQ(value(table, "green"), 256) << format;
      EXPECT_EQ(value(table, "blue"), 65535) << format;
    }
  }
}

TEST(Las, ReadsFormats6To10) {
  const std::string base =
      begin_point(100, 2, 3, 9) + raw(std::uint8_t{0xf2}, std::uint8_t{0b1'0'10'1001}, std::uint8_t{200},
                                      std::uint8_t{5}, std::int16_t{-5000}, std::uint16_t{4}, -0.5);
  const std::string colour = raw(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3});
  const std::string infrared = raw(std::uint16_t{4});
  const std::string wave(29, 'w');
  const std::string points[] = {base, base + colour, base + colour + infrared, base + wave,
                                base + colour + infrared + wave};
  for (int format = 6; format <= 10; ++format) {
    LasFile file;
    file.minor = 4;
    file.format = format;
    file.points = points[format - 6];
    const PointTable table = parse_las(file.bytes(), "bytes");
    EXPECT_EQ(value(table, "return_number"), 2) << format;
    EXPECT_EQ(value(table, "number_of_returns"), 15) << format;
    EXPECT_EQ(value(table, "synthetic"), 1) << format;
    EXPECT_EQ(value(table, "overlap"), 1) << format;
    EXPECT_EQ(value(table, "scanner_channel"), 2) << format;
    EXPECT_EQ(value(table, "scan_direction"), 0) << format;
    EXPECT_EQ(value(table, "edge_of_flight_line"), 1) << format;
    EXPECT_EQ(value(table, "classification"), 200) << format;
    EXPECT_EQ(value(table, "scan_angle"), -30) << format;
    EXPECT_EQ(value(table, "gps_time"), -0.5) << format;
    EXPECT_EQ(table.find("red") >= 0, format != 6 && format != 9) << format;
    EXPECT_EQ(table.find("nir") >= 0, format == 8 || format == 10) << format;
    if (table.find("nir") >= 0) {
      EXPECT_EQ(value(table, "nir"), 4) << format;
    }
  }
}

TEST(Las, TakesStrideAndOffsetFromTheHeader) {
  LasFile file = format_0();
  file.record = 23;
  file.count = 2;
  file.points += "abc" + begin_point(1, 2, 3, 4) + std::string(9, '\0');
  file.front = std::string(54, 'r');
  file.front.replace(20, 2, raw(std::uint16_t{0}));
  file.front_count = 1;
  file.front += "padding";
  const PointTable table = parse_las(file.bytes(), "bytes");
  EXPECT_EQ(table.columns[0][1], 1 * 0.01 + 1000);
  EXPECT_EQ(table.columns[3][1], 4);
  EXPECT_EQ(table.names.size(), 15u);
}

TEST(Las, ReadsDescribedExtraBytesFromEitherKindOfRecord) {
  const std::string body = describe(0, 1, "") + describe(4, 24, "Height", 0.1, 5) + describe(21, 0, "normal");
  const std::string extra = "?" + raw(std::int16_t{-20}, std::uint8_t{7}, std::uint8_t{8}, std::uint8_t{9});
  for (const bool extended : {false, true}) {
    LasFile file = format_0();
    file.minor = 4;
    file.points += extra + "!";
    file.record = 20 + 7;
    (extended ? file.behind : file.front) = extra_record(body, extended);
    (extended ? file.behind_count : file.front_count) = 1;
    const std::string bytes = file.bytes();
    const PointTable table = parse_las(bytes, "bytes");
    EXPECT_EQ(value(table, "height"), -20 * 0.1 + 5);
    EXPECT_EQ(value(table, "normal_0"), 7);
    EXPECT_EQ(value(table, "normal_2"), 9);
    expect_no_prefix(bytes, [](std::string_view prefix) { parse_las(prefix, "bytes"); });
  }
}

TEST(Las, TakesNoPoints) {
  LasFile file;
  file.count = 0;
  EXPECT_EQ(parse_las(file.bytes(), "bytes").rows(), 0);
}

TEST(Las, RefusesLyingHeaders) {
  const auto expect_bad = [](std::string bytes, std::size_t at, const std::string& value, std::int64_t offset,
                             std::string_view part) {
    bytes.replace(at, value.size(), value);
    expect_format_error([&] { parse_las(bytes, "bytes"); }, offset, part);
  };
  const std::string good = format_0().bytes();
  expect_bad(good, 0, "LASP", 0, "found \"LASP\"");
  expect_bad(good, 24, "\1\5", 24, "found 1.5");
  expect_bad(good, 94, raw(std::uint16_t{226}), 94, "at least 227 bytes, found 226");
  expect_bad(good, 96, raw(std::uint32_t{200}), 96, "found them at byte 200");
  expect_bad(good, 96, raw(std::uint32_t{4000000000}), 96, "inside a file of 247 bytes");
  expect_bad(good, 100, raw(std::uint32_t{4000000000}), 247, "of the length of a record, found 0");
  expect_bad(good, 104, "\x83", 104, "compressed by LASzip");
  expect_bad(good, 104, "\x0b", 104, "found 11");
  expect_bad(good, 105, raw(std::uint16_t{19}), 105, "at least 20 bytes for point format 0, found 19");
  expect_bad(good, 107, raw(std::uint32_t{4294967295}), 227,
             "expected 4294967295 points of 20 bytes, found 20 bytes");
  expect_bad(good, 139, raw(std::nan("")), 139, "a finite scale other than 0");
  expect_bad(good, 139, raw(0.0), 139, "of y, found 0");
  expect_bad(good, 155, raw(HUGE_VAL), 131, "of x, found 0.01 and inf");

  LasFile newer = format_0();
  newer.minor = 4;
  expect_bad(newer.bytes(), 247, raw(std::uint64_t{2}), 247,
             "the number of points 1 that stands at byte 107");
  expect_bad(newer.bytes(), 243, raw(std::uint32_t{1}), 395, "expected 2 bytes of a record");
}

TEST(Las, RefusesBadExtraBytes) {
  LasFile file = format_0();
  file.minor = 4;
  file.record = 22;
  file.points += "ab";
  file.front_count = 1;
  const auto expect_bad = [&](const std::string& body, std::int64_t offset, std::string_view part) {
    file.front = extra_record(body, false);
    const std::string bytes = file.bytes();
    expect_format_error([&] { parse_las(bytes, "bytes"); }, offset, part);
  };
  const std::int64_t body_at = 375 + 54;
  expect_bad("short", body_at, "192 bytes each, found 5");
  expect_bad(describe(31, 0, "a"), body_at + 2, "found 31");
  expect_bad(describe(1, 0, ""), body_at + 4, "expected the name");
  expect_bad(describe(1, 0, "a") + describe(3, 0, "b"), body_at + 192, "found them to end at byte 23");
  expect_bad(describe(1, 0, "a") + describe(1, 0, "A"), 375, "found a twice");
  expect_bad(describe(1, 0, "Intensity"), 375, "found intensity twice");
  file.front_count = 2;
  file.front = extra_record(describe(1, 0, "a"), false);
  file.front += file.front;
  const std::string twice = file.bytes();
  expect_format_error([&] { parse_las(twice, "bytes"); }, 375 + 54 + 192, "found two");
}

TEST(Las, ReadsSurveys) {
  const struct {
    const char* file;
    std::int64_t rows;
    double lo[3], hi[3];
  } surveys[] = {{"autzen-thin.las", 10653, {635589.01, 848886.45, 406.59}, {638994.75, 853535.43, 593.73}},
                 {"4_6_crop.las", 23875, {1639600.0, 1454500.02, 0}, {1639799.98, 1454700.0, 0}}};
  for (const auto& survey : surveys) {
    const auto path = shared_data(std::string("data/points/pdal/") + survey.file);
    if (!path) GTEST_SKIP() << "no " << survey.file << " under AEROGEL_SHARED";
    const PointTable table = read_points(*path);
    EXPECT_EQ(table.rows(), survey.rows);
    for (std::size_t axis = 0; axis < 2; ++axis) {  // the header's own bounds
      const auto [lo, hi] = std::minmax_element(table.columns[axis].begin(), table.columns[axis].end());
      EXPECT_NEAR(*lo, survey.lo[axis], 1e-6) << survey.file;
      EXPECT_NEAR(*hi, survey.hi[axis], 1e-6) << survey.file;
    }
    EXPECT_GE(table.find("gps_time"), 0);
    EXPECT_GE(table.find("blue"), 0);
    const auto& returns = table.columns[static_cast<std::size_t>(table.find("return_number"))];
    const auto& classes = table.columns[static_cast<std::size_t>(table.find("classification"))];
    EXPECT_LE(*std::max_element(returns.begin(), returns.end()), 5);
    EXPECT_TRUE(std::all_of(classes.begin(), classes.end(), [](double c) { return c >= 0 && c < 32; }));
  }
}

}  // namespace
}  // namespace aerogel::io
