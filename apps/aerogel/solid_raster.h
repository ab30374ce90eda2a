// A software z-buffer for the cells of a grid as solid boxes in perspective.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "colour.h"

namespace aerogel::cli {

/// A box of the grid.
struct SolidCell {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t z = 0;
  Light colour{};
};

/// Which way is up in the picture. kZ is what maps and LiDAR have, kY what .obj and .glb have; the others are
/// for scans in a camera's frame.
enum class Up { kX, kY, kZ, kMinusX, kMinusY, kMinusZ };

/// "x", "y", "z", "-x", "-y", "-z"; InvalidArgument naming --up otherwise.
Up parse_up(const std::string& text);

/// Where a picture is taken from: the centre of the boxes is looked at from `distance` radii of the sphere
/// around them.
struct Viewpoint {
  Up up = Up::kZ;
  double azimuth = 35;    // degrees to the right of the front
  double elevation = 25;  // degrees above the horizon
  double distance = 3;
};

/// What a z-buffer holds in the end, row 0 at the top.
struct Raster {
  int width = 0;
  int height = 0;
  std::vector<std::int64_t> cell;  // index into the cells given; −1: background
  std::vector<std::uint8_t>
      face;  // 0 … 5: −x, +x, −y, +y, −z, +z; with kEdge: close to the edge of a large one
  std::vector<float> depth;                       // along the view, in the unit of `size`; inf: background
  std::array<std::array<double, 3>, 6> normal{};  // of each face: to the right, up, towards the eye
  double unit_pixels = 0;                         // length of one unit at the centre, in pixels

  static constexpr std::uint8_t kEdge = 8;

  /// Background all over.
  void clear();
};

/// Draws the cells as boxes of `size` (x, y, z), the longer side of what they cover `long_side` pixels. Of
/// two faces at one depth, that of the smaller (z, y, x) wins, so that the order of the cells does not
/// matter.
///   cost   faces that touch no other cell, and the pixels they cover
Raster rasterise(const std::vector<SolidCell>& cells, const std::array<double, 3>& size,
                 const Viewpoint& viewpoint, int long_side);

}  // namespace aerogel::cli
