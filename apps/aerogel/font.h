// A 5 × 7 bitmap font for captions: printable ASCII.
#pragma once

#include <cstdint>

namespace aerogel::cli {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 7;

/// Five columns, the lowest bit is the top row; a question mark for what the font lacks.
const std::uint8_t* glyph(char character) noexcept;

}  // namespace aerogel::cli
