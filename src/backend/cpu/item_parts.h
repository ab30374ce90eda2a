// Sums per batch item over parts of the rows, when rows of an item may be anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "aerogel/sparse_tensor.h"

namespace aerogel::cpu {

/// Rows of a part: fixed by the problem, so that results do not depend on threads. Many batch items mean few
/// parts, so that the parts never outweigh the input.
inline std::int64_t rows_of_part(std::int64_t n, std::int64_t batch) {
  constexpr std::int64_t kLeastPartRows = 4096;
  constexpr std::int64_t kMostParts = 64;
  const std::int64_t parts = std::clamp<std::int64_t>(n / std::max(kLeastPartRows, 4 * batch), 1, kMostParts);
  return std::max<std::int64_t>((n + parts - 1) / parts, 1);
}

/// Sites of every batch item.
inline std::vector<std::int64_t> sites_of_items(const Coordinates& coordinates) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(coordinates.batch_size()), 0);
  for (std::int64_t i = 0; i < coordinates.size(); ++i)
    ++counts[static_cast<std::size_t>(coordinates.row(i)[0])];
  return counts;
}

}  // namespace aerogel::cpu
