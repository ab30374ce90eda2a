// Perspective pictures: cells as solid boxes, lit from above, with what every picture has around it.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "frame.h"
#include "solid_raster.h"

namespace aerogel::cli {

/// Draws and shades the cells and writes a .png of about style.long_side pixels; style.cell_metres is not
/// read.
///   size   of a cell (x, y, z), in style.unit
void write_perspective(const std::filesystem::path& path, const std::vector<SolidCell>& cells,
                       const std::array<double, 3>& size, const Viewpoint& viewpoint,
                       const PictureStyle& style);

}  // namespace aerogel::cli
