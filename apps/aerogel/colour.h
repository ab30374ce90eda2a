// Colours that are even to the eye, made in OkLCh (Ottosson 2020, "A perceptual color space for image
// processing").
#pragma once

#include <array>

namespace aerogel::cli {

/// Linear light, 0 … 1 per channel; sums and blurs of it look like light.
using Light = std::array<float, 3>;

/// From OkLCh: lightness and chroma 0 … 1, hue in degrees. Out-of-gamut values are clipped.
Light oklch(float lightness, float chroma, float hue) noexcept;

/// sRGB byte of one channel.
unsigned char srgb_byte(float linear) noexcept;

/// The colour map of pictures, t = 0 … 1: indigo, blue, teal, green, gold, pale orange, ever lighter, so that
/// it reads in print and with any colour vision.
Light height_colour(float t) noexcept;

}  // namespace aerogel::cli
