// What every picture has around it: margins, a scale bar, a legend, a caption and a note.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "aerogel/tensor.h"

#include "colour.h"

namespace aerogel::cli {

struct PictureStyle {
  std::string caption;  // below the picture, left
  std::string note;  // beside the caption, or below it where that is too long, such as "untrained weights";
                     // may be empty
  double cell_metres = 0;    // edge of a cell; 0 = no scale bar
  std::string unit = "m";    // of the scale bar
  std::string legend_title;  // empty = no legend
  std::string legend_low;    // labels at the ends of the colour map
  std::string legend_high;
  int long_side = 1400;     // pixels of the drawing, roughly
  bool components = false;  // legend of three dots, red, green and blue, in place of the colour map
};

inline constexpr Light kBackground = {0.0030F, 0.0040F, 0.0075F};

/// Linear light, row 0 at the top.
class Canvas {
 public:
  Canvas(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  Light& at(int x, int y) { return pixels_[static_cast<std::size_t>(y) * width_ + x]; }
  void fill(int x0, int y0, int x1, int y1, const Light& colour);
  void text(int x, int y, std::string_view line, const Light& colour, int scale);
  /// [height, width, 3] u8, sRGB
  Tensor bytes() const;

 private:
  int width_;
  int height_;
  std::vector<Light> pixels_;
};

/// 1, 2 or 5 times a power of ten: of a bar about a fifth of `width` pixels long; 0 where a pixel has no
/// length.
double scale_bar(double pixel_metres, int width);

/// A canvas for a drawing of width × height pixels.
class Frame {
 public:
  Frame(int width, int height, const PictureStyle& style);

  Canvas& canvas() { return canvas_; }
  int left() const { return left_; }  // of the drawing
  int top() const { return kMargin; }
  /// Draws what stands below the drawing and writes a .png. `bar_label` stands beside a bar of
  /// scale_bar(pixel_metres, width); there is none where a pixel has no length.
  void write(const std::filesystem::path& path, double pixel_metres, const std::string& bar_label);

 private:
  static constexpr int kMargin = 28;

  PictureStyle style_;
  int width_;
  int height_;
  bool note_beside_;
  Canvas canvas_;
  int left_ = 0;
};

/// Separable three-pass box blur, close to a Gaussian of this radius.
void blur(std::vector<float>& values, int width, int height, int radius);

}  // namespace aerogel::cli
