#include "sparse/sort_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sparse/key_packing.h"
#include "sparse/lexicographic.h"

namespace aerogel {
namespace {

struct KeyedRow {
  std::uint64_t key;
  std::int32_t row;
};

/// Least-significant-digit radix sort on the low `bits` of the key; stable.
void radix_sort(std::vector<KeyedRow>& rows, int bits) {
  constexpr int kDigitBits = 11;  // 2,048 counters of 8 bytes stay in a 32 KiB L1
  std::vector<KeyedRow> other(rows.size());
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    std::int64_t begin[(1 << kDigitBits) + 1] = {};
    const auto digit = [shift](const KeyedRow& row) { return (row.key >> shift) & ((1u << kDigitBits) - 1); };
    for (const KeyedRow& row : rows) ++begin[digit(row) + 1];
    for (int i = 0; i < 1 << kDigitBits; ++i) begin[i + 1] += begin[i];
    for (const KeyedRow& row : rows) other[static_cast<std::size_t>(begin[digit(row)]++)] = row;
    rows.swap(other);
  }
}

}  // namespace

std::vector<std::int32_t> sorted_order_of_rows(const std::int32_t* rows, std::int64_t n,
                                               std::int64_t batch_size, const Dims& spatial_shape) {
  const int width = 1 + spatial_shape.size();
  std::int64_t sorted = std::min<std::int64_t>(n, 1);
  while (sorted < n && compare_rows(rows + (sorted - 1) * width, rows + sorted * width, width) <= 0) ++sorted;
  if (sorted == n) return {};

  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  const KeyPacking packing(batch_size, spatial_shape);
  if (!packing.fits()) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return compare_rows(rows + std::int64_t{a} * width, rows + std::int64_t{b} * width, width) < 0;
    });
    return order;
  }
  std::vector<KeyedRow> keyed(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    keyed[static_cast<std::size_t>(i)] = {packing.pack(rows + i * width), static_cast<std::int32_t>(i)};
  }
  radix_sort(keyed, packing.bits());
  std::transform(keyed.begin(), keyed.end(), order.begin(), [](const KeyedRow& row) { return row.row; });
  return order;
}

}  // namespace aerogel
