#include <cmath>

#include "io_testing.h"
#include "shared_data.h"

namespace aerogel::io {
namespace {

std::string header(const std::string& fields, const std::string& sizes, const std::string& types,
                   const std::string& counts, const std::string& points, const std::string& data) {
  return "# .PCD v0.7\nVERSION 0.7\nFIELDS " + fields + "\nSIZE " + sizes + "\nTYPE " + types + "\nCOUNT " +
         counts + "\nWIDTH " + points + "\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS " + points + "\nDATA " +
         data + "\n";
}
std::string xyz_header(const std::string& points, const std::string& data) {
  return header("x y z", "4 4 4", "F F F", "1 1 1", points, data);
}
std::int64_t size_of(const std::string& text) { return static_cast<std::int64_t>(text.size()); }
std::int64_t offset_of(const std::string& text, const std::string& line) {
  return static_cast<std::int64_t>(text.find(line));
}

TEST(Pcd, ReadsAscii) {
  const PointTable table = parse_pcd(xyz_header("2", "ascii") + "1 2 3\r\n\n-1 nan 1e3", "bytes");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(table.columns[0], (std::vector<double>{1, -1}));
  EXPECT_TRUE(std::isnan(table.columns[1][1]));
  EXPECT_EQ(table.columns[2][1], 1000);
}

TEST(Pcd, ReadsBinaryOfAllTypesWithPaddingAndCounts) {
  const std::string head = header("X _ d i8 u8 i16 u16 i32 u32 i64 u64 hist", "4 1 8 1 1 2 2 4 4 8 8 2",
                                  "F U F I U I U I U I U U", "1 3 1 1 1 1 1 1 1 1 1 2", "1", "binary");
  const std::string body =
      raw(1.5f) + "pad" + raw(0.1) + raw(std::int8_t{-1}, std::uint8_t{255}) +
      raw(std::int16_t{-2}, std::uint16_t{65535}, std::int32_t{-3}, std::uint32_t{4000000000u}) +
      raw(std::int64_t{-4}, std::uint64_t{5}, std::uint16_t{6}, std::uint16_t{7});
  const PointTable table = parse_pcd(head + body, "bytes");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "d", "i8", "u8", "i16", "u16", "i32", "u32", "i64",
                                                   "u64", "hist_0", "hist_1"}));
  const std::vector<double> expected = {1.5, 0.1, -1, 255, -2, 65535, -3, 4e9, -4, 5, 6, 7};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(table.columns[i][0], expected[i]) << table.names[i];
  expect_no_prefix(head + body, [](std::string_view bytes) { parse_pcd(bytes, "bytes"); });
}

/// Literals of at most 32 bytes: LZF that any decompressor takes.
std::string literals(const std::string& bytes) {
  std::string packed;
  for (std::size_t i = 0; i < bytes.size(); i += 32) {
    const std::string part = bytes.substr(i, 32);
    packed += static_cast<char>(part.size() - 1) + part;
  }
  return packed;
}
std::string compressed(const std::string& content) {
  const std::string packed = literals(content);
  return raw(static_cast<std::uint32_t>(packed.size()), static_cast<std::uint32_t>(content.size())) + packed;
}

TEST(Pcd, ReadsCompressedFieldByField) {
  const std::string content =
      raw(1.f, 2.f) + raw(std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{4});
  const std::string head = header("x tag", "4 1", "F U", "1 2", "2", "binary_compressed");
  const PointTable table = parse_pcd(head + compressed(content) + std::string(100, '\0'), "bytes");
  EXPECT_EQ(table.columns[0], (std::vector<double>{1, 2}));
  EXPECT_EQ(table.columns[1], (std::vector<double>{1, 3}));
  EXPECT_EQ(table.columns[2], (std::vector<double>{2, 4}));
  expect_no_prefix(head + compressed(content), [](std::string_view bytes) { parse_pcd(bytes, "bytes"); });
}

TEST(Pcd, CompressedPaddingMayBeThereOrNot) {
  const std::string head = header("x _ y", "4 1 4", "F U F", "1 4 1", "1", "binary_compressed");
  for (const std::string& content : {raw(1.f, 2.f), raw(1.f) + "pad!" + raw(2.f)}) {
    const PointTable table = parse_pcd(head + compressed(content), "bytes");
    EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(table.columns[1][0], 2);
  }
}

TEST(Pcd, NoPointsIsATable) {
  EXPECT_EQ(parse_pcd(xyz_header("0", "binary"), "bytes").rows(), 0);
  EXPECT_EQ(parse_pcd(xyz_header("0", "ascii"), "bytes").names.size(), 3u);
  EXPECT_EQ(parse_pcd(xyz_header("0", "binary_compressed") + std::string(8, '\0'), "bytes").rows(), 0);
}

TEST(Pcd, RefusesCountsThatTheFileCannotHold) {
  for (const char* points : {"2", "1000000000000", "9223372036854775807"}) {
    const std::string ascii = xyz_header(points, "ascii");
    expect_format_error([&] { parse_pcd(ascii + "1 2 3\n", "bytes"); }, size_of(ascii), "found 7 bytes");
    const std::string binary = xyz_header(points, "binary");
    expect_format_error([&] { parse_pcd(binary + raw(1.f, 2.f, 3.f), "bytes"); }, size_of(binary),
                        "found 12 bytes");
    const std::string lzf = xyz_header(points, "binary_compressed");
    expect_format_error([&] { parse_pcd(lzf + compressed(raw(1.f, 2.f, 3.f)), "bytes"); }, size_of(lzf) + 8,
                        "found 12 bytes");
  }
}

TEST(Pcd, RefusesLyingCompressedSizes) {
  const std::string head = xyz_header("1", "binary_compressed");
  const auto parse = [&](const std::string& body) {
    return [&head, body] { parse_pcd(head + body, "bytes"); };
  };
  const std::string content = raw(1.f, 2.f, 3.f);
  const std::string good = compressed(content);
  expect_format_error(parse(raw(std::uint32_t{13}, std::uint32_t{4000000000u}) + good.substr(8)),
                      size_of(head) + 4, "expected at most 1144 bytes");
  expect_format_error(parse(raw(std::uint32_t{13}, std::uint32_t{13}) + good.substr(8)), size_of(head) + 4,
                      "expected 12 uncompressed bytes, found 13");
  expect_format_error(parse(raw(std::uint32_t{14}, std::uint32_t{12}) + good.substr(8)), size_of(head) + 8,
                      "expected 14 bytes");
  expect_format_error(parse(raw(std::uint32_t{13}, std::uint32_t{12}) + '\x20' + good.substr(9)),
                      size_of(head) + 8, "LZF");
  expect_format_error(parse(good + "more"), size_of(head + good), "found 4 more bytes");
}

TEST(Pcd, RefusesBadRows) {
  const std::string head = xyz_header("2", "ascii");
  const auto parse = [&](const std::string& body) {
    return [&head, body] { parse_pcd(head + body, "bytes"); };
  };
  expect_format_error(parse("1 2 3\n1 2\n      "), size_of(head) + 6, "expected 3 numbers, found nothing");
  expect_format_error(parse("1 2 3 4\n5 6 7\n"), size_of(head), "found more");
  expect_format_error(parse("1 2 x\n5 6 7\n"), size_of(head), "\"x\"");
  expect_format_error(parse("1 2 3                \n"), size_of(head) + 22, "expected 2 points, found 1");
  expect_format_error(parse("1 2 3\n1 2 3\n1 2 3\n"), size_of(head) + 12, "expected the end");
}

TEST(Pcd, RefusesBadHeaders) {
  const auto expect_bad = [](const std::string& bytes, const std::string& line, std::string_view part) {
    expect_format_error([&] { parse_pcd(bytes, "bytes"); }, offset_of(bytes, line), part);
  };
  expect_bad(header("x", "3", "F", "1", "0", "ascii"), "TYPE", "found \"F\" of 3");
  expect_bad(header("x", "4", "Q", "1", "0", "ascii"), "TYPE", "found \"Q\" of 4");
  expect_bad(header("x y", "4", "F F", "1 1", "0", "ascii"), "SIZE", "found nothing");
  expect_bad(header("x", "4 4", "F", "1", "0", "ascii"), "SIZE", "found also \"4\"");
  expect_bad(header("x", "4", "F", "0", "0", "ascii"), "COUNT", "at least 1");
  expect_bad(header("x", "4", "F", "9999999", "0", "ascii"), "COUNT", "found 9999999");
  expect_bad(header("x", "4", "F", "5000", "0", "ascii"), "DATA", "at most 4096 columns");
  expect_bad(header("x X", "4 4", "F F", "1 1", "0", "ascii"), "DATA", "found x twice");
  expect_bad(header("_", "4", "F", "1", "0", "ascii"), "DATA", "at least one named field");
  expect_bad(header("x", "4", "F", "1", "-1", "ascii"), "WIDTH", "found \"-1\"");
  expect_bad(header("x", "4", "F", "1", "0", "zip"), "DATA", "found \"zip\"");
  expect_bad("COLUMNS x\nFIELDS x\n", "FIELDS", "expected one FIELDS line");
  expect_bad("VERSION 0.7\nRUBBISH\n", "RUBBISH", "found \"RUBBISH\"");
  expect_bad("VERSION 0.7\nDATA ascii\n", "DATA", "expected a FIELDS line");
  std::string mismatch = xyz_header("2", "ascii");
  mismatch.replace(mismatch.find("HEIGHT 1"), 8, "HEIGHT 3");
  expect_bad(mismatch, "POINTS", "expected POINTS 6 = WIDTH · HEIGHT, found 2");
  expect_format_error([] { parse_pcd("VERSION 0.7\n", "bytes"); }, 12, "found the end of the file");
  expect_format_error([] { parse_pcd("", "bytes"); }, 0, "found the end of the file");
}

TEST(Pcd, ReadsTheSharedFiles) {
  struct Case {
    const char* name;
    std::int64_t rows;
    std::int64_t nan_rows;
    std::size_t columns;
  };
  for (const Case& c : {Case{"pcl/bun0.pcd", 397, 0, 7}, Case{"pcl/car6.pcd", 10031, 0, 3},
                        Case{"pcl/milk_color.pcd", 13704, 0, 4}, Case{"pcl/office1.pcd", 307200, 52744, 4},
                        Case{"pcl/table_scene_mug_stereo_textured.pcd", 307200, 97920, 4},
                        Case{"pdal/autzen-utm.pcd", 1065, 0, 16}}) {
    const auto path = shared_data(std::string("data/points/") + c.name);
    if (!path)
      GTEST_SKIP() << "data/points/" << c.name << " is absent; AEROGEL_SHARED names the folder of data";
    const PointTable table = read_pcd(*path);
    EXPECT_EQ(table.rows(), c.rows) << c.name;
    EXPECT_EQ(table.names.size(), c.columns) << c.name;
    std::int64_t nan_rows = 0;
    for (double x : table.columns[static_cast<std::size_t>(table.find("x"))]) nan_rows += std::isnan(x);
    EXPECT_EQ(nan_rows, c.nan_rows) << c.name;
  }
}

TEST(Pcd, SurveyCoordinatesStayDouble) {
  const auto path = shared_data("data/points/pdal/autzen-utm.pcd");
  if (!path)
    GTEST_SKIP() << "data/points/pdal/autzen-utm.pcd is absent; AEROGEL_SHARED names the folder of data";
  const PointTable table = read_pcd(*path);
  double largest = 0;
  for (double y : table.columns[static_cast<std::size_t>(table.find("y"))]) {
    largest = std::max(largest, std::abs(y - static_cast<double>(static_cast<float>(y))));
  }
  EXPECT_GT(largest, 0.1);  // metres that f32 would have lost
}

}  // namespace
}  // namespace aerogel::io
