// The z-buffer, judged by what a box must look like; and that a picture is its input's and nothing else's.
#include "solid_raster.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "perspective.h"
#include "unit/io/io_testing.h"

namespace aerogel::cli {
namespace {

constexpr std::array<double, 3> kUnit = {1, 1, 1};

std::int64_t covered(const Raster& raster) {
  return std::count_if(raster.cell.begin(), raster.cell.end(), [](std::int64_t cell) { return cell >= 0; });
}

std::set<int> faces(const Raster& raster) {
  std::set<int> seen;
  for (std::size_t i = 0; i < raster.cell.size(); ++i) {
    if (raster.cell[i] >= 0) seen.insert(raster.face[i] & ~Raster::kEdge);
  }
  return seen;
}

TEST(SolidRaster, ACubeFromInFrontIsASquare) {
  Viewpoint front;
  front.azimuth = 0;
  front.elevation = 0;
  const Raster raster = rasterise({{5, -3, 2, {}}}, kUnit, front, 200);
  EXPECT_EQ(raster.width, 200);
  EXPECT_NEAR(raster.height, 200, 1);
  EXPECT_GE(covered(raster), 199 * 199);
  EXPECT_EQ(faces(raster), std::set<int>{2});  // −y
}

TEST(SolidRaster, ACubeFromACornerIsAHexagonOfThreeFaces) {
  Viewpoint corner;
  corner.azimuth = 45;
  corner.elevation = std::atan(std::sqrt(0.5)) * 180 / 3.14159265358979;
  corner.distance = 1000;  // almost without perspective
  const Raster raster = rasterise({{0, 0, 0, {}}}, kUnit, corner, 400);
  EXPECT_EQ(faces(raster), (std::set<int>{1, 2, 5}));  // right, front, top
  // A regular hexagon of diameter d: width d · √3 / 2 and area 3 · √3 / 8 · d².
  EXPECT_EQ(raster.height, 400);
  EXPECT_NEAR(raster.width, 400 * std::sqrt(0.75), 2);
  EXPECT_NEAR(static_cast<double>(covered(raster)), 3 * std::sqrt(3.0) / 8 * 400 * 400, 800);
}

TEST(SolidRaster, ALongBoxKeepsItsProportions) {
  Viewpoint front;
  front.azimuth = 0;
  front.elevation = 0;
  front.distance = 1000;
  const Raster raster = rasterise({{0, 0, 0, {}}}, {4, 1, 1}, front, 400);
  EXPECT_EQ(raster.width, 400);
  EXPECT_NEAR(raster.height, 100, 1);
  EXPECT_NEAR(raster.unit_pixels, 100, 0.5);
}

TEST(SolidRaster, TheNearerCellHidesTheFarther) {
  Viewpoint front;
  front.azimuth = 0;
  front.elevation = 0;
  for (const bool swapped : {false, true}) {
    std::vector<SolidCell> cells = {{0, 9, 0, {}}, {0, 0, 0, {}}};  // the front looks along +y
    if (swapped) std::swap(cells[0], cells[1]);
    const Raster raster = rasterise(cells, kUnit, front, 100);
    const std::size_t middle = static_cast<std::size_t>(raster.height / 2) * raster.width + raster.width / 2;
    EXPECT_EQ(raster.cell[middle], swapped ? 0 : 1);
    EXPECT_EQ(std::count(raster.cell.begin(), raster.cell.end(), swapped ? 1 : 0), 0);
  }
}

TEST(SolidRaster, EveryAxisCanPointUp) {
  for (const auto& [name, axis] : {std::pair{"x", 0}, {"y", 1}, {"z", 2}, {"-x", 0}, {"-y", 1}, {"-z", 2}}) {
    Viewpoint view;
    view.up = parse_up(name);
    SolidCell low{0, 0, 0, {}};
    SolidCell high{axis == 0 ? 5 : 0, axis == 1 ? 5 : 0, axis == 2 ? 5 : 0, {}};
    if (name[0] == '-') std::swap(low, high);
    const Raster raster = rasterise({low, high}, kUnit, view, 100);
    const auto first =
        std::find_if(raster.cell.begin(), raster.cell.end(), [](auto cell) { return cell >= 0; });
    ASSERT_NE(first, raster.cell.end());
    EXPECT_EQ(*first, 1) << name;  // the topmost row shows the higher cell
  }
  EXPECT_THROW(parse_up("w"), InvalidArgument);
}

TEST(SolidRaster, InnerFacesAreNeverSeen) {
  std::vector<SolidCell> block;
  for (std::int64_t i = 0; i < 27; ++i) block.push_back({i % 3, i / 3 % 3, i / 9, {}});
  const Raster raster = rasterise(block, kUnit, {}, 300);
  for (std::size_t i = 0; i < raster.cell.size(); ++i) EXPECT_NE(raster.cell[i], 13);  // the middle one
  for (const float depth : raster.depth) EXPECT_FALSE(std::isnan(depth));
}

TEST(SolidRaster, NoCellsAreBackground) {
  const Raster raster = rasterise({}, kUnit, {}, 100);
  EXPECT_EQ(raster.width, 1);
  EXPECT_EQ(covered(raster), 0);
}

class PerspectivePicture : public ::testing::Test {
 protected:
  static std::string draw(const std::vector<SolidCell>& cells, const std::string& note = "") {
    const io::ScratchFolder folder;
    PictureStyle style;
    style.long_side = 300;
    style.caption = "cells";
    style.note = note;
    write_perspective(folder / "cells.png", cells, kUnit, {}, style);
    return io::read_file(folder / "cells.png");
  }
};

TEST_F(PerspectivePicture, DoesNotDependOnTheOrderOfCells) {
  std::vector<SolidCell> cells;
  for (int i = 0; i < 500; ++i)
    cells.push_back({i * 37 % 23, i * 53 % 19, i * 7 % 29, {0.01F * static_cast<float>(i % 90), 0.5F, 0.2F}});
  std::sort(cells.begin(), cells.end(), [](const SolidCell& a, const SolidCell& b) {
    return std::array{a.z, a.y, a.x} < std::array{b.z, b.y, b.x};
  });
  cells.erase(std::unique(cells.begin(), cells.end(),
                          [](const SolidCell& a, const SolidCell& b) {
                            return a.x == b.x && a.y == b.y && a.z == b.z;
                          }),
              cells.end());
  const std::string once = draw(cells);
  std::reverse(cells.begin(), cells.end());
  EXPECT_EQ(once, draw(cells));
  cells[0].colour = {1, 0, 0};
  EXPECT_NE(once, draw(cells));
}

TEST_F(PerspectivePicture, ShowsTheNote) {
  EXPECT_NE(draw({{0, 0, 0, {1, 1, 1}}}), draw({{0, 0, 0, {1, 1, 1}}}, "untrained weights"));
}

TEST_F(PerspectivePicture, IsDrawnOfNoCellsToo) { EXPECT_EQ(draw({}).substr(1, 3), "PNG"); }

}  // namespace
}  // namespace aerogel::cli
