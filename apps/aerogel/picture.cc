#include "picture.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

namespace aerogel::cli {

namespace {

constexpr Light kGrid = {0.0105F, 0.0135F, 0.021F};

struct Extent {
  std::int64_t x0 = 0, y0 = 0, x1 = 1, y1 = 1;  // half-open
};

Extent occupied(const std::vector<PlanCell>& cells) {
  if (cells.empty()) return {};
  Extent e{cells[0].x, cells[0].y, cells[0].x + 1, cells[0].y + 1};
  for (const PlanCell& cell : cells) {
    e = {std::min(e.x0, cell.x), std::min(e.y0, cell.y), std::max(e.x1, cell.x + 1),
         std::max(e.y1, cell.y + 1)};
  }
  return e;
}

/// Light spills over a little, which lifts lone cells off the dark ground.
void add_glow(Canvas& canvas, const std::vector<Light>& drawn, int left, int top, int width, int height,
              int radius) {
  std::vector<float> channel(drawn.size());
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < drawn.size(); ++i) channel[i] = drawn[i][c];
    blur(channel, width, height, radius);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        float& value = canvas.at(left + x, top + y)[c];
        value =
            1 - (1 - value) * (1 - std::min(0.55F * channel[static_cast<std::size_t>(y) * width + x], 0.5F));
      }
    }
  }
}

}  // namespace

void write_plan(const std::filesystem::path& path, const std::vector<PlanCell>& cells,
                const PictureStyle& style) {
  const Extent extent = occupied(cells);
  const std::int64_t columns = extent.x1 - extent.x0;
  const std::int64_t rows = extent.y1 - extent.y0;
  const std::int64_t longest = std::max(columns, rows);
  const std::int64_t long_side = std::max(style.long_side, 1);
  // Whole pixels per cell, or whole cells per pixel, so that no raster pattern appears.
  const std::int64_t zoom = std::clamp<std::int64_t>(long_side / longest, 1, 48);
  const std::int64_t shrink = zoom > 1 ? 1 : (longest + 2 * long_side - 1) / (2 * long_side);
  const int width = static_cast<int>((columns + shrink - 1) / shrink * zoom);
  const int height = static_cast<int>((rows + shrink - 1) / shrink * zoom);
  Frame frame(width, height, style);
  Canvas& canvas = frame.canvas();
  const int left = frame.left();
  const int top = frame.top();

  const double pixel_metres = style.cell_metres * static_cast<double>(shrink) / static_cast<double>(zoom);
  const double bar = scale_bar(pixel_metres, width);
  if (bar > 0) {  // grid lines at the scale bar's distance
    const double step = bar / pixel_metres;
    for (double x = step; x < width; x += step)
      canvas.fill(left + static_cast<int>(x), top, left + static_cast<int>(x) + 1, top + height, kGrid);
    for (double y = step; y < height; y += step) {
      const int row = top + height - 1 - static_cast<int>(y);
      canvas.fill(left, row, left + width, row + 1, kGrid);
    }
  }

  std::vector<Light> drawn(static_cast<std::size_t>(width) * height);
  const int gap = zoom >= 10 ? 1 : 0;  // large cells are told apart
  for (const PlanCell& cell : cells) {
    const int x0 = static_cast<int>((cell.x - extent.x0) / shrink * zoom);
    const int y0 = height - static_cast<int>(((cell.y - extent.y0) / shrink + 1) * zoom);
    for (int y = std::max(y0, 0); y < std::min(y0 + static_cast<int>(zoom) - gap, height); ++y) {
      for (int x = x0; x < std::min(x0 + static_cast<int>(zoom) - gap, width); ++x) {
        Light& pixel = drawn[static_cast<std::size_t>(y) * width + x];
        for (std::size_t c = 0; c < 3; ++c) pixel[c] = std::max(pixel[c], cell.colour[c] * cell.brightness);
      }
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Light& pixel = drawn[static_cast<std::size_t>(y) * width + x];
      if (pixel[0] + pixel[1] + pixel[2] > 0) canvas.at(left + x, top + y) = pixel;
    }
  }
  if (zoom <= 4) add_glow(canvas, drawn, left, top, width, height, 3);

  frame.write(path, pixel_metres, fmt::format("{:g} {}", bar, style.unit));
}

std::vector<PlanCell> height_plan(const std::vector<PlanSite>& sites, HeightRange& range) {
  struct Top {
    double height;
    double weight;
  };
  std::unordered_map<std::uint64_t, Top> tops;
  tops.reserve(sites.size());
  for (const PlanSite& site : sites) {
    const auto key = static_cast<std::uint64_t>(site.y) << 32 | static_cast<std::uint32_t>(site.x);
    const auto [it, fresh] = tops.try_emplace(key, Top{site.height, 0});
    it->second.height = std::max(it->second.height, site.height);
    it->second.weight += site.weight;
  }
  std::vector<double> heights;
  std::vector<double> weights;
  for (const auto& [key, top] : tops) {
    heights.push_back(top.height);
    weights.push_back(top.weight);
  }
  std::sort(heights.begin(), heights.end());
  std::sort(weights.begin(), weights.end());
  const auto quantile = [](const std::vector<double>& sorted, double q) {
    return sorted.empty() ? 0.0
                          : sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  range = {quantile(heights, 0.01), quantile(heights, 0.995)};
  const double span = std::max(range.high - range.low, 1e-9);
  const double dense = std::log1p(std::max(quantile(weights, 0.95), 2.0));
  std::vector<PlanCell> cells;
  cells.reserve(tops.size());
  for (const auto& [key, top] : tops) {
    const auto t = static_cast<float>(std::clamp((top.height - range.low) / span, 0.0, 1.0));
    const auto light = static_cast<float>(0.6 + 0.4 * std::min(1.0, std::log1p(top.weight) / dense));
    cells.push_back({static_cast<std::int64_t>(static_cast<std::int32_t>(key & 0xFFFFFFFF)),
                     static_cast<std::int64_t>(static_cast<std::int32_t>(key >> 32)), height_colour(t),
                     light});
  }
  return cells;
}

}  // namespace aerogel::cli
