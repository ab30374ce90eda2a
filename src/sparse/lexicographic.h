// Coordinate rows as ordered things: (batch, then columns left to right). Rows are [width] i32.
#pragma once

#include <cstdint>

namespace aerogel {

/// −1, 0 or 1.
inline int compare_rows(const std::int32_t* a, const std::int32_t* b, int width) {
  for (int i = 0; i < width; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

}  // namespace aerogel
