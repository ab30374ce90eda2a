// Bird's-eye pictures: what is at each cell, seen from above, with a scale bar, a legend and a caption.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "colour.h"
#include "frame.h"

namespace aerogel::cli {

/// One cell of the ground plan.
struct PlanCell {
  std::int64_t x = 0;  // to the right
  std::int64_t y = 0;  // upwards
  Light colour{};
  float brightness = 1;  // 0 … 1
};

/// Draws the occupied part of the plan, its longer side about style.long_side pixels, and writes it as a
/// .png.
void write_plan(const std::filesystem::path& path, const std::vector<PlanCell>& cells,
                const PictureStyle& style);

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
