#include "perspective.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace aerogel::cli {

namespace {

constexpr int kSamples = 2;  // a pixel's side in samples: edges are smoothed
constexpr float kAmbient = 0.30F;
constexpr float kRim = 0.55F;  // light left on the edges of large cells

/// Right, up, towards the eye: over the viewer's left shoulder.
constexpr std::array<double, 3> kLight = {-0.40, 0.72, 0.57};

/// Depths around each sample, without the background: weighted mean over a Gaussian of this radius.
std::vector<float> smooth_depth(const Raster& raster, int radius) {
  std::vector<float> weight(raster.depth.size());
  std::vector<float> depth(raster.depth.size());
  for (std::size_t i = 0; i < depth.size(); ++i) {
    if (raster.cell[i] < 0) continue;
    weight[i] = 1;
    depth[i] = raster.depth[i];
  }
  blur(weight, raster.width, raster.height, radius);
  blur(depth, raster.width, raster.height, radius);
  for (std::size_t i = 0; i < depth.size(); ++i) depth[i] = weight[i] > 1e-6F ? depth[i] / weight[i] : 0;
  return depth;
}

float lambert(double x, double y, double z) {
  const double lit = (x * kLight[0] + y * kLight[1] + z * kLight[2]) / std::sqrt(x * x + y * y + z * z);
  return static_cast<float>(std::max(lit, 0.0));
}

/// How much light falls on each sample, 0 … 1: by the face that is seen, by the surface that the cells
/// together make, less in hollows and far away.
std::vector<float> light_of(const Raster& raster, double cell_size) {
  std::vector<float> light(raster.depth.size());
  if (raster.unit_pixels <= 0) return light;
  const int cell = std::max(static_cast<int>(std::lround(cell_size * raster.unit_pixels)), 1);
  const int side = std::max(raster.width, raster.height);
  const std::vector<float> surface = smooth_depth(raster, std::clamp(cell, 2, side / 40 + 2));
  const std::vector<float> around = smooth_depth(raster, side / 40 + 1);
  float near = INFINITY;
  float far = 0;
  for (std::size_t i = 0; i < light.size(); ++i) {
    if (raster.cell[i] < 0) continue;
    near = std::min(near, raster.depth[i]);
    far = std::max(far, raster.depth[i]);
  }
  const float range = std::max(far - near, 1e-12F);
  float face_light[6];
  for (std::size_t face = 0; face < 6; ++face) {
    const auto& n = raster.normal[face];
    face_light[face] = lambert(n[0], n[1], n[2]);
  }
  const auto slope = [&](std::size_t from, std::size_t to, std::size_t at) {
    if (raster.cell[from] < 0) from = at;
    if (raster.cell[to] < 0) to = at;
    const double steps = (from != at ? 1 : 0) + (to != at ? 1 : 0);
    return steps > 0 ? static_cast<double>(surface[to] - surface[from]) * raster.unit_pixels / steps : 0.0;
  };
  for (int y = 0; y < raster.height; ++y) {
    for (int x = 0; x < raster.width; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * raster.width + x;
      if (raster.cell[at] < 0) continue;
      const std::size_t left = x > 0 ? at - 1 : at;
      const std::size_t right = x + 1 < raster.width ? at + 1 : at;
      const std::size_t above = y > 0 ? at - raster.width : at;
      const std::size_t below = y + 1 < raster.height ? at + raster.width : at;
      const float smooth = lambert(slope(left, right, at), slope(below, above, at), 1);
      const std::uint8_t face = raster.face[at] & ~Raster::kEdge;
      const float direct = 0.45F * face_light[face] + 0.55F * smooth;
      const float hollow = std::clamp((raster.depth[at] - around[at]) / (0.10F * range), -0.5F, 1.0F);
      const float fog = 1 - 0.25F * (raster.depth[at] - near) / range;
      const float rim = (raster.face[at] & Raster::kEdge) != 0 ? kRim : 1.0F;
      light[at] = (kAmbient + (1 - kAmbient) * direct) * (1 - 0.45F * hollow) * fog * rim;
    }
  }
  return light;
}

}  // namespace

void write_perspective(const std::filesystem::path& path, const std::vector<SolidCell>& cells,
                       const std::array<double, 3>& size, const Viewpoint& viewpoint,
                       const PictureStyle& style) {
  const Raster raster = rasterise(cells, size, viewpoint, std::max(style.long_side, 1) * kSamples);
  const std::vector<float> light = light_of(raster, *std::min_element(size.begin(), size.end()));
  const int width = (raster.width + kSamples - 1) / kSamples;
  const int height = (raster.height + kSamples - 1) / kSamples;
  Frame frame(width, height, style);
  Canvas& canvas = frame.canvas();
  for (int y = 0; y < raster.height; ++y) {
    for (int x = 0; x < raster.width; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * raster.width + x;
      if (raster.cell[at] < 0) continue;
      const Light& colour = cells[static_cast<std::size_t>(raster.cell[at])].colour;
      Light& pixel = canvas.at(frame.left() + x / kSamples, frame.top() + y / kSamples);
      for (std::size_t c = 0; c < 3; ++c) {
        constexpr float kShare = 1.0F / (kSamples * kSamples);
        pixel[c] += kShare * (std::min(colour[c] * light[at], 1.0F) - kBackground[c]);
      }
    }
  }
  const double pixel_metres = raster.unit_pixels > 0 ? kSamples / raster.unit_pixels : 0;
  frame.write(path, pixel_metres,
              fmt::format("{:g} {} at the centre", scale_bar(pixel_metres, width), style.unit));
}

}  // namespace aerogel::cli
