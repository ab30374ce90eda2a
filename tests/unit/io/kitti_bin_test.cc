#include "io_testing.h"

namespace aerogel::io {
namespace {

TEST(KittiBin, HasFourColumns) {
  const PointTable table = parse_kitti_bin(raw(1.f, 2.f, 3.f, 0.5f, -1.f, -2.f, -3.f, 0.25f), "bytes", {});
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "z", "intensity"}));
  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(table.columns[2], (std::vector<double>{3, -3}));
  EXPECT_EQ(table.find("Intensity"), 3);
  EXPECT_EQ(table.find("ring"), -1);
}

TEST(KittiBin, TakesColumnNames) {
  const PointTable table = parse_kitti_bin(raw(1.f, 2.f), "bytes", {"x", "t"});
  EXPECT_EQ(table.columns[1], std::vector<double>{2});
}

TEST(KittiBin, NuscenesAddsTheRing) {
  const PointTable table = parse_kitti_bin(raw(1.f, 2.f, 3.f, 4.f, 5.f), "scan.PCD.BIN", {});
  EXPECT_EQ(table.find("ring"), 4);
  EXPECT_EQ(table.rows(), 1);
}

TEST(KittiBin, NoPointsIsATable) { EXPECT_EQ(parse_kitti_bin("", "bytes", {}).rows(), 0); }

TEST(KittiBin, RefusesABrokenRow) {
  expect_format_error([] { parse_kitti_bin(std::string(37, 'a'), "bytes", {}); }, 32,
                      "found 5 bytes left of 37");
}

TEST(KittiBin, RefusesWrongNames) {
  EXPECT_THROW(parse_kitti_bin("", "bytes", {"x", "X"}), InvalidArgument);
  EXPECT_THROW(parse_kitti_bin("", "bytes", {"x", ""}), InvalidArgument);
  EXPECT_THROW(parse_kitti_bin("", "bytes", std::vector<std::string>(5000, "a")), InvalidArgument);
}

}  // namespace
}  // namespace aerogel::io
