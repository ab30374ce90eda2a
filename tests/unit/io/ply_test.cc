#include <cmath>

#include "io_testing.h"
#include "shared_data.h"

namespace aerogel::io {
namespace {

std::int64_t size_of(const std::string& text) { return static_cast<std::int64_t>(text.size()); }

const std::string kVertex = "element vertex 2\nproperty float x\nproperty double Y\nproperty uchar red\n";
const std::string kFace = "element face 1\nproperty list uchar int vertex_indices\n";
std::string header(const std::string& format, const std::string& elements) {
  return "ply\nformat " + format + " 1.0\ncomment made by hand\n" + elements + "end_header\n";
}

TEST(Ply, ReadsAscii) {
  const std::string bytes = header("ascii", kVertex + kFace) + "1 2.5 255\n\n-1 nan 0\n3 0 1 0\n";
  const PointTable table = parse_ply(bytes, "bytes");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "red"}));
  EXPECT_EQ(table.columns[0], (std::vector<double>{1, -1}));
  EXPECT_TRUE(std::isnan(table.columns[1][1]));
  EXPECT_EQ(table.columns[2], (std::vector<double>{255, 0}));
}

TEST(Ply, ReadsCrlfHeaders) {
  const PointTable table = parse_ply(
      "ply\r\nformat ascii 1.0\r\nobj_info a b\r\nelement vertex 1\r\nproperty float x\r\n"
      "end_header\r\n7\r\n",
      "bytes");
  EXPECT_EQ(table.columns[0], std::vector<double>{7});
}

TEST(Ply, ReadsBinaryAroundOtherElements) {
  const std::string rows = raw(1.f, 2.5, std::uint8_t{255}) + raw(-1.f, 0.1, std::uint8_t{0});
  const std::string face = raw(std::uint8_t{3}, 0, 1, 0);
  const std::string camera = "element camera 1\nproperty double view\n";
  const std::string bytes = header("binary_little_endian", camera + kFace + kVertex) + raw(9.0) + face + rows;
  const PointTable table = parse_ply(bytes, "bytes");
  EXPECT_EQ(table.columns[1], (std::vector<double>{2.5, 0.1}));
  EXPECT_EQ(table.columns[2], (std::vector<double>{255, 0}));
  expect_no_prefix(bytes, [](std::string_view prefix) { parse_ply(prefix, "bytes"); });
}

TEST(Ply, ReadsBigEndian) {
  const std::string bytes =
      header("binary_big_endian", "element vertex 1\nproperty short x\n") + std::string("\1\2", 2);
  EXPECT_EQ(parse_ply(bytes, "bytes").columns[0][0], 0x0102);
}

TEST(Ply, PassesOverListsInVertices) {
  const std::string element =
      "element vertex 2\nproperty float x\nproperty list uchar short seen_by\nproperty float y\n";
  const std::string binary = header("binary_little_endian", element) + raw(1.f) + raw(std::uint8_t{2}) +
                             raw(std::int16_t{5}, std::int16_t{6}) + raw(2.f) + raw(3.f) +
                             raw(std::uint8_t{0}) + raw(4.f);
  for (const std::string& bytes : {binary, header("ascii", element) + "1 2 5 6 2\n3 0 4\n"}) {
    const PointTable table = parse_ply(bytes, "bytes");
    EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(table.columns[0], (std::vector<double>{1, 3}));
    EXPECT_EQ(table.columns[1], (std::vector<double>{2, 4}));
    expect_no_prefix(bytes.substr(0, bytes.size() - 1),
                     [](std::string_view prefix) { parse_ply(prefix, "bytes"); });
  }
}

TEST(Ply, RefusesCountsThatTheFileCannotHold) {
  for (const char* rows : {"2", "1000000000000", "9223372036854775807"}) {
    const std::string element = std::string("element vertex ") + rows + "\nproperty float x\n";
    const std::string binary = header("binary_little_endian", element);
    expect_format_error([&] { parse_ply(binary + raw(1.f), "bytes"); }, size_of(binary), "found 4 bytes");
    const std::string ascii = header("ascii", element);
    expect_format_error([&] { parse_ply(ascii + "1\n", "bytes"); }, size_of(ascii), "found 3 bytes");
  }
}

TEST(Ply, RefusesBadListLengths) {
  const std::string element = "element vertex 1\nproperty float x\nelement face 1\nproperty list int int v\n";
  const std::string binary = header("binary_little_endian", element) + raw(1.f);
  expect_format_error([&] { parse_ply(binary + raw(-1, 0), "bytes"); }, size_of(binary),
                      "expected the length of list v");
  expect_format_error([&] { parse_ply(binary + raw(2000000000, 0), "bytes"); }, size_of(binary) + 4,
                      "expected 8000000000 bytes of v, found 4");
  const std::string ascii = header("ascii", element) + "1\n";
  expect_format_error([&] { parse_ply(ascii + "1.5 0\n", "bytes"); }, size_of(ascii), "found 1.5");
  expect_format_error([&] { parse_ply(ascii + "2000000000 0\n", "bytes"); }, size_of(ascii), "found nothing");
}

TEST(Ply, RefusesBadRows) {
  const std::string head = header("ascii", "element vertex 2\nproperty float x\nproperty float y\n");
  const auto parse = [&](const std::string& body) {
    return [&head, body] { parse_ply(head + body, "bytes"); };
  };
  expect_format_error(parse("1 2\n3      \n"), size_of(head) + 4,
                      "expected a number for vertex.y, found nothing");
  expect_format_error(parse("1 2 3\n4 5\n"), size_of(head),
                      "expected the end of a row of vertex, found \"3\"");
  expect_format_error(parse("1 2      \n"), size_of(head) + 10, "expected 2 rows of element vertex, found 1");
  expect_format_error(parse("1 2\n3 4\n5 6\n"), size_of(head) + 8, "found 4 more bytes");
}

TEST(Ply, RefusesBadHeaders) {
  const auto expect_bad = [](const std::string& bytes, std::int64_t offset, std::string_view part) {
    expect_format_error([&] { parse_ply(bytes, "bytes"); }, offset, part);
  };
  const std::string format = "ply\nformat ascii 1.0\n";
  const std::string vertex = "element vertex 0\nproperty float x\n";
  expect_bad("", 0, "expected \"ply\"");
  expect_bad("solid teapot\n", 0, "found \"solid teapot\"");
  expect_bad("ply\nformat text 1.0\n", 4, "found \"text\"");
  expect_bad("ply\nformat ascii 2.0\n", 4, "found \"2.0\"");
  expect_bad(format, size_of(format), "expected end_header");
  expect_bad("ply\n" + vertex + "end_header\n", 4 + size_of(vertex + "end_header\n"),
             "expected a format line");
  expect_bad(format + "property float x\n", size_of(format), "found \"property\"");
  expect_bad(format + "format ascii 1.0\n", size_of(format), "found \"format\"");
  expect_bad(format + "element vertex -1\n", size_of(format), "found \"-1\"");
  expect_bad(format + vertex + "property quad y\n", size_of(format + vertex), "found \"quad\"");
  expect_bad(format + vertex + "property float\n", size_of(format + vertex), "expected the name");
  expect_bad(format + vertex + "property list float int y\n", size_of(format + vertex),
             "expected an integer type");
  const auto at_end = [&](const std::string& elements, std::string_view part) {
    const std::string bytes = format + elements + "end_header\n";
    expect_bad(bytes, size_of(bytes), part);
  };
  at_end("element face 0\n", "expected an element vertex");
  at_end(vertex + vertex, "found vertex twice");
  at_end(vertex + "property int X\n", "found x twice");
  at_end("element vertex 0\n", "expected 1 to 4096 scalar vertex properties");
  at_end(vertex + "element empty 1000000000\n", "expected properties of element empty");
}

TEST(Ply, ReadsTheSharedFile) {
  const auto path = shared_data("data/points/ouster/os1_128_three_frames.ply");
  if (!path)
    GTEST_SKIP()
        << "data/points/ouster/os1_128_three_frames.ply is absent; AEROGEL_SHARED names the folder of data";
  const PointTable table = read_ply(*path);
  EXPECT_EQ(table.rows(), 155000);
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "z"}));
  for (const auto& column : table.columns) {
    for (double value : column) ASSERT_LT(std::abs(value), 1000);
  }
}

}  // namespace
}  // namespace aerogel::io
