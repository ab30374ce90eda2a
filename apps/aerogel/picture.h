// Bird's-eye pictures: what is at each cell, seen from above, with a scale bar, a legend and a caption.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "aerogel/tensor.h"

#include "colour.h"

namespace aerogel::cli {

/// One cell of the ground plan.
struct PlanCell {
  std::int64_t x = 0;  // to the right
  std::int64_t y = 0;  // upwards
  Light colour{};
  float brightness = 1;  // 0 … 1
};

struct PlanStyle {
  std::string caption;  // below the picture, left
  std::string note;  // beside the caption, or below it where that is too long, such as "untrained weights";
                     // may be empty
  double cell_metres = 0;    // edge of a cell; 0 = no scale bar
  std::string unit = "m";    // of the scale bar
  std::string legend_title;  // empty = no legend
  std::string legend_low;    // labels at the ends of the colour map
  std::string legend_high;
  int long_side = 1400;     // pixels of the plan, roughly: cells are whole pixels
  bool components = false;  // legend of three dots, red, green and blue, in place of the colour map
};

/// Draws the occupied part of the plan, its longer side about style.long_side pixels, and writes it as a
/// .png.
void write_plan(const std::filesystem::path& path, const std::vector<PlanCell>& cells,
                const PlanStyle& style);

/// Cells coloured by the height of their highest site and lit by how many points or sites they hold.
///   columns  x, y, z in cells and a weight, one row per site
struct PlanSite {
  std::int64_t x = 0;
  std::int64_t y = 0;
  double height = 0;  // metres
  double weight = 1;  // points
};
struct HeightRange {
  double low = 0;
  double high = 1;
};
std::vector<PlanCell> height_plan(const std::vector<PlanSite>& sites, HeightRange& range);

}  // namespace aerogel::cli
