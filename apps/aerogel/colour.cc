#include "colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace aerogel::cli {

Light oklch(float lightness, float chroma, float hue) noexcept {
  const float radians = hue * std::numbers::pi_v<float> / 180.0F;
  const float a = chroma * std::cos(radians);
  const float b = chroma * std::sin(radians);
  const float l_root = lightness + 0.3963377774F * a + 0.2158037573F * b;
  const float m_root = lightness - 0.1055613458F * a - 0.0638541728F * b;
  const float s_root = lightness - 0.0894841775F * a - 1.2914855480F * b;
  const float l = l_root * l_root * l_root;
  const float m = m_root * m_root * m_root;
  const float s = s_root * s_root * s_root;
  const auto clip = [](float value) { return std::clamp(value, 0.0F, 1.0F); };
  return {clip(4.0767416621F * l - 3.3077115913F * m + 0.2309699292F * s),
          clip(-1.2684380046F * l + 2.6097574011F * m - 0.3413193965F * s),
          clip(-0.0041960863F * l - 0.7034186147F * m + 1.7076147010F * s)};
}

unsigned char srgb_byte(float linear) noexcept {
  const float x = std::clamp(linear, 0.0F, 1.0F);
  const float encoded = x <= 0.0031308F ? 12.92F * x : 1.055F * std::pow(x, 1.0F / 2.4F) - 0.055F;
  return static_cast<unsigned char>(std::lround(encoded * 255.0F));
}

Light height_colour(float t) noexcept {
  t = std::clamp(t, 0.0F, 1.0F);
  const float lightness = 0.44F + 0.48F * t;
  const float hue = 285.0F - 222.0F * t;  // violet-blue to orange-gold
  const float chroma = 0.15F + 0.035F * std::sin(std::numbers::pi_v<float> * t);
  return oklch(lightness, chroma, hue);
}

}  // namespace aerogel::cli
