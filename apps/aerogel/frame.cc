#include "frame.h"

#include <algorithm>
#include <cmath>

#include "aerogel/io.h"

#include "font.h"

namespace aerogel::cli {

namespace {

constexpr int kFooter = 84;
constexpr int kLine = 24;         // of text
constexpr int kNoteGap = 40;      // between caption and note
constexpr int kLeastWidth = 584;  // so that caption and legend fit
constexpr Light kInk = {0.62F, 0.66F, 0.72F};
constexpr Light kFaint = {0.21F, 0.24F, 0.29F};
constexpr Light kWarning = {0.90F, 0.48F, 0.10F};

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

/// 1, 2 or 5 times a power of ten, at most `length`.
double round_length(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length)));
  const double digit = length / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

void draw_legend(Canvas& canvas, int right, int top, const PictureStyle& style) {
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

Canvas::Canvas(int width, int height)
    : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * height, kBackground) {}

void Canvas::fill(int x0, int y0, int x1, int y1, const Light& colour) {
  for (int y = std::max(y0, 0); y < std::min(y1, height_); ++y) {
    for (int x = std::max(x0, 0); x < std::min(x1, width_); ++x) at(x, y) = colour;
  }
}

void Canvas::text(int x, int y, std::string_view line, const Light& colour, int scale) {
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
}

Tensor Canvas::bytes() const {
  Tensor rgb = Tensor::empty({height_, width_, 3}, DType::kU8);
  auto* out = rgb.mutable_data<std::uint8_t>();
  for (const Light& pixel : pixels_) {
    for (const float channel : pixel) *out++ = srgb_byte(channel);
  }
  return rgb;
}

double scale_bar(double pixel_metres, int width) {
  return pixel_metres > 0 ? round_length(pixel_metres * std::max(width / 5, 80)) : 0;
}

Frame::Frame(int width, int height, const PictureStyle& style)
    : style_(style), width_(width), height_(height), canvas_(0, 0) {
  style_.caption = ascii(style.caption);
  style_.note = ascii(style.note);
  const int caption = text_width(style_.caption, 2);
  const int canvas_width = std::max({width, caption, kLeastWidth}) + 2 * kMargin;
  note_beside_ =
      style_.note.empty() || caption + kNoteGap + text_width(style_.note, 2) <= canvas_width - 2 * kMargin;
  canvas_ = Canvas(canvas_width, height + 2 * kMargin + kFooter + (note_beside_ ? 0 : kLine));
  left_ = (canvas_width - width) / 2;
}

void Frame::write(const std::filesystem::path& path, double pixel_metres, const std::string& bar_label) {
  const int footer = top() + height_ + kMargin;
  const double bar = scale_bar(pixel_metres, width_);
  if (bar > 0) {
    const int x = kMargin;
    const int length = static_cast<int>(std::lround(bar / pixel_metres));
    canvas_.fill(x, footer + 13, x + length, footer + 16, kInk);
    canvas_.fill(x, footer + 6, x + 3, footer + 16, kInk);
    canvas_.fill(x + length - 3, footer + 6, x + length, footer + 16, kInk);
    canvas_.text(x + length + 10, footer + 3, bar_label, kInk, 2);
  }
  if (!style_.legend_title.empty()) draw_legend(canvas_, canvas_.width() - kMargin, footer, style_);
  canvas_.text(kMargin, footer + 54, style_.caption, kInk, 2);
  if (!style_.note.empty()) {
    canvas_.text(note_beside_ ? canvas_.width() - kMargin - text_width(style_.note, 2) : kMargin,
                 footer + 54 + (note_beside_ ? 0 : kLine), style_.note, kWarning, 2);
  }
  io::write_png(path, canvas_.bytes());
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

}  // namespace aerogel::cli
