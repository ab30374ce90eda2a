#include "picture.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "aerogel/io.h"

#include "font.h"

namespace aerogel::cli {

namespace {

constexpr int kMargin = 28;
constexpr int kFooter = 84;
constexpr int kLine = 24;         // of text
constexpr int kNoteGap = 40;      // between caption and note
constexpr int kLeastWidth = 584;  // so that caption and legend fit
constexpr Light kBackground = {0.0030F, 0.0040F, 0.0075F};
constexpr Light kGrid = {0.0105F, 0.0135F, 0.021F};
constexpr Light kInk = {0.62F, 0.66F, 0.72F};
constexpr Light kFaint = {0.21F, 0.24F, 0.29F};
constexpr Light kWarning = {0.90F, 0.48F, 0.10F};

/// Linear light, row 0 at the top.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * height, kBackground) {}

  int width() const { return width_; }
  int height() const { return height_; }
  Light& at(int x, int y) { return pixels_[static_cast<std::size_t>(y) * width_ + x]; }

  void fill(int x0, int y0, int x1, int y1, const Light& colour) {
    for (int y = std::max(y0, 0); y < std::min(y1, height_); ++y) {
      for (int x = std::max(x0, 0); x < std::min(x1, width_); ++x) at(x, y) = colour;
    }
  }

  /// Returns the x behind the last character.
  int text(int x, int y, std::string_view line, const Light& colour, int scale) {
    for (const char c : line) {
      const std::uint8_t* columns = glyph(c);
      for (int i = 0; i < kGlyphWidth; ++i) {
        for (int j = 0; j < kGlyphHeight; ++j) {
          if ((columns[i] >> j & 1) != 0) {
            fill(x + i * scale, y + j * scale, x + (i + 1) * scale, y + (j + 1) * scale, colour);
          }
        }
      }
      x += (kGlyphWidth + 1) * scale;
    }
    return x;
  }

  Tensor bytes() const {
    Tensor rgb = Tensor::empty({height_, width_, 3}, DType::kU8);
    auto* out = rgb.mutable_data<std::uint8_t>();
    for (const Light& pixel : pixels_) {
      for (const float channel : pixel) *out++ = srgb_byte(channel);
    }
    return rgb;
  }

 private:
  int width_;
  int height_;
  std::vector<Light> pixels_;
};

int text_width(std::string_view line, int scale) {
  return static_cast<int>(line.size()) * (kGlyphWidth + 1) * scale - scale;
}

/// Other characters than ASCII become their nearest; the font has no more.
std::string ascii(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80)
      out += text[i];
    else if (byte >= 0xC0)
      out += '?';
  }
  return out;
}

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

/// 1, 2 or 5 times a power of ten, at most `length`.
double round_length(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length)));
  const double digit = length / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

/// Separable three-pass box blur, close to a Gaussian of this radius.
void blur(std::vector<float>& values, int width, int height, int radius) {
  std::vector<float> line(static_cast<std::size_t>(std::max(width, height)));
  const float scale = 1.0F / static_cast<float>(2 * radius + 1);
  const auto pass = [&](std::size_t start, std::size_t step, int count) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      float sum = 0;
      for (int i = 0; i <= std::min(radius, count - 1); ++i) sum += values[start + i * step];
      for (int i = 0; i < count; ++i) {
        line[static_cast<std::size_t>(i)] = sum * scale;
        if (i + radius + 1 < count) sum += values[start + (i + radius + 1) * step];
        if (i - radius >= 0) sum -= values[start + (i - radius) * step];
      }
      for (int i = 0; i < count; ++i) values[start + i * step] = line[static_cast<std::size_t>(i)];
    }
  };
  for (int y = 0; y < height; ++y) pass(static_cast<std::size_t>(y) * width, 1, width);
  for (int x = 0; x < width; ++x) pass(static_cast<std::size_t>(x), static_cast<std::size_t>(width), height);
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

void draw_legend(Canvas& canvas, int right, int top, const PlanStyle& style) {
  if (style.components) {
    const char* const names[] = {"PC1", "PC2", "PC3"};
    const Light dots[] = {{0.85F, 0.08F, 0.06F}, {0.06F, 0.62F, 0.12F}, {0.10F, 0.20F, 0.95F}};
    int x = right - 3 * 64;
    for (int i = 0; i < 3; ++i, x += 64) {
      canvas.fill(x, top + 3, x + 14, top + 17, dots[i]);
      canvas.text(x + 20, top + 3, names[i], kInk, 2);
    }
    canvas.text(right - text_width(style.legend_title, 2), top + 26, style.legend_title, kFaint, 2);
    return;
  }
  constexpr int kBar = 220;
  const int high_width = text_width(style.legend_high, 2);
  const int x0 = right - high_width - 8 - kBar;
  for (int i = 0; i < kBar; ++i) {
    canvas.fill(x0 + i, top + 3, x0 + i + 1, top + 17, height_colour(static_cast<float>(i) / (kBar - 1)));
  }
  canvas.text(right - high_width, top + 3, style.legend_high, kInk, 2);
  canvas.text(x0 - 8 - text_width(style.legend_low, 2), top + 3, style.legend_low, kInk, 2);
  canvas.text(x0, top + 26, style.legend_title, kFaint, 2);
}

}  // namespace

void write_plan(const std::filesystem::path& path, const std::vector<PlanCell>& cells,
                const PlanStyle& style) {
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
  const std::string caption = ascii(style.caption);
  const std::string note = ascii(style.note);
  const int canvas_width = std::max({width, text_width(caption, 2), kLeastWidth}) + 2 * kMargin;
  const bool note_beside =
      note.empty() || text_width(caption, 2) + kNoteGap + text_width(note, 2) <= canvas_width - 2 * kMargin;
  Canvas canvas(canvas_width, height + 2 * kMargin + kFooter + (note_beside ? 0 : kLine));
  const int left = (canvas.width() - width) / 2;
  const int top = kMargin;

  const double pixel_metres = style.cell_metres * static_cast<double>(shrink) / static_cast<double>(zoom);
  const double bar = pixel_metres > 0 ? round_length(pixel_metres * std::max(width / 5, 80)) : 0;
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

  const int footer = top + height + kMargin;
  if (bar > 0) {
    const int x = kMargin;
    const int length = static_cast<int>(std::lround(bar / pixel_metres));
    canvas.fill(x, footer + 13, x + length, footer + 16, kInk);
    canvas.fill(x, footer + 6, x + 3, footer + 16, kInk);
    canvas.fill(x + length - 3, footer + 6, x + length, footer + 16, kInk);
    canvas.text(x + length + 10, footer + 3, fmt::format("{:g} {}", bar, style.unit), kInk, 2);
  }
  if (!style.legend_title.empty()) draw_legend(canvas, canvas.width() - kMargin, footer, style);
  canvas.text(kMargin, footer + 54, caption, kInk, 2);
  if (!note.empty()) {
    canvas.text(note_beside ? canvas.width() - kMargin - text_width(note, 2) : kMargin,
                footer + 54 + (note_beside ? 0 : kLine), note, kWarning, 2);
  }
  io::write_png(path, canvas.bytes());
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
