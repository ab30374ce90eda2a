#include "picture.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "aerogel/io.h"

#include "unit/io/io_testing.h"

namespace aerogel::cli {
namespace {

struct Size {
  int width = 0;
  int height = 0;
};

Size png_size(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  return {number(16), number(20)};
}

std::string draw(const std::vector<PlanCell>& cells, const PictureStyle& style) {
  const io::ScratchFolder folder;
  write_plan(folder / "plan.png", cells, style);
  return io::read_file(folder / "plan.png");
}

std::vector<PlanCell> rectangle(std::int64_t width, std::int64_t height) {
  return {{-5, 7, {1, 0, 0}, 1}, {-5 + width - 1, 7 + height - 1, {0, 1, 0}, 1}};
}

TEST(Picture, CellsAreWholePixelsAndPixelsWholeCells) {
  const int margins = 2 * 28;
  PictureStyle style;
  style.long_side = 1000;
  for (const auto& [cells, pixels] : {std::pair{1000, 1000}, {300, 900}, {1900, 1900}, {4000, 2000}}) {
    const Size size = png_size(draw(rectangle(cells, cells), style));
    EXPECT_EQ(size.width, pixels + margins) << cells;
    EXPECT_GT(size.height, pixels + margins) << cells;  // the footer
  }
}

TEST(Picture, NarrowPlansStillFitTheirText) {
  PictureStyle style;
  style.long_side = 400;
  style.caption = std::string(90, 'c');
  const Size alone = png_size(draw(rectangle(4, 400), style));
  EXPECT_GE(alone.width, 90 * 12);  // 6 columns a character, doubled
  style.note = "untrained weights";
  const Size noted = png_size(draw(rectangle(4, 400), style));
  EXPECT_EQ(noted.width, alone.width);
  EXPECT_GT(noted.height, alone.height);  // a line of its own
  style.caption = "short";
  EXPECT_LT(png_size(draw(rectangle(4, 400), style)).height, noted.height);
}

TEST(Picture, TheSamePlanMakesTheSameBytesInAnyOrder) {
  std::vector<PlanSite> sites;
  for (int i = 0; i < 2000; ++i) sites.push_back({i * 37 % 211, i * 53 % 197, (i % 29) * 0.1, 1.0 + i % 5});
  PictureStyle style;
  style.cell_metres = 0.1;
  style.caption = "größer than ASCII";
  style.legend_title = "height";
  style.legend_low = "0";
  style.legend_high = "1 m";
  HeightRange range;
  const std::string once = draw(height_plan(sites, range), style);
  std::reverse(sites.begin(), sites.end());
  EXPECT_EQ(once, draw(height_plan(sites, range), style));
}

TEST(Picture, NoCellsAreAPictureToo) {
  HeightRange range;
  const Size size = png_size(draw(height_plan({}, range), {}));
  EXPECT_GT(size.width, 0);
  EXPECT_GT(size.height, 0);
}

TEST(Picture, ColumnsShowTheirHighestSite) {
  HeightRange range;
  std::vector<PlanSite> sites = {{-3, 4, 0, 1}, {-3, 4, 9, 1}, {-3, 4, 5, 1}, {6, -2, 0, 1}};
  std::vector<PlanCell> cells = height_plan(sites, range);
  ASSERT_EQ(cells.size(), 2u);
  std::sort(cells.begin(), cells.end(), [](const PlanCell& a, const PlanCell& b) { return a.x < b.x; });
  EXPECT_EQ(cells[0].x, -3);
  EXPECT_EQ(cells[0].y, 4);
  EXPECT_EQ(cells[1].x, 6);
  EXPECT_EQ(cells[1].y, -2);
  EXPECT_GT(cells[0].brightness, cells[1].brightness);  // three points against one
  EXPECT_EQ(range.low, 0);
}

}  // namespace
}  // namespace aerogel::cli
