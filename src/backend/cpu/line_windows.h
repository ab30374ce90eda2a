// The inner part of cpu/build_kernel_map/sorted_merge: fine sites as blocks of a line's bits, coarse sites as
// cells that ask for one block, and sweeps that join them. See build_kernel_map_sorted_merge.cc for the
// whole.
#pragma once

#include <cstdint>

#include "backend/cpu/counted_array.h"

namespace aerogel::cpu {

inline constexpr int kBlockBits =
    5;  // 32 sites of the last column in a block, so that a window is two blocks
inline constexpr std::int64_t kBlock = std::int64_t{1} << kBlockBits;
inline constexpr std::uint64_t kNoKey = ~std::uint64_t{0};  // keys have at most 63 bits
inline constexpr std::int64_t kVectorPad = 64;   // elements a vector load may read past an array's end
inline constexpr std::int64_t kTileRows = 1024;  // coarse rows staged at once: both lists of 3 taps fit an L1

/// The fine sites, sorted, in blocks along the last column.
struct Blocks {
  std::int64_t count = 0;
  Array<std::uint64_t> key;        // [count + 2], the last two kNoKey
  Array<std::uint32_t> sites;      // [count + 1] bit i: the block's i-th place holds a site
  Array<std::int32_t> first_rank;  // [count + 1] rank of the block's first site
};

/// The coarse sites by the fine block that the first tap of a sweep asks for.
struct Cells {
  std::int64_t count = 0;
  Array<std::uint64_t> key;        // [count]
  Array<std::uint32_t> asked;      // [count] bit i: a site of the cell asks for the block's i-th place
  Array<std::int32_t> first_rank;  // [count + 1]
  Array<std::int32_t> of_row;      // [N + pad] cell of the i-th coarse site in the order of iteration
  Array<std::uint8_t> bit_of_row;  // [N + pad] which place of the block it asks for
};

/// Kernel offsets first_offset … first_offset + taps − 1: equal leading taps, last taps within one window.
struct Sweep {
  std::int64_t first_offset = 0;
  int taps = 0;
  int step = 1;  // window bits from one tap to the next: the dilation; step · (taps − 1) < 32
  std::uint64_t block_delta = 0;  // from a cell's key to the block it asks for
  const Cells* cells = nullptr;
  Array<std::uint64_t> window;     // [cells] 64 places of the fine line from the asked block on
  Array<std::int32_t> first_rank;  // [cells] rank of the first fine site in the window
};

/// Fills window and first_rank of cells [begin, end) and adds each tap's pairs to counts [taps].
void match_cells(Sweep& sweep, const Blocks& blocks, std::int64_t begin, std::int64_t end,
                 std::int64_t* counts);

/// Pairs of one tile, per tap: (position in the order of iteration, rank of the fine site).
struct TilePairs {
  TilePairs(int taps, MemoryMeter* meter) : coarse(taps * kStride, meter), fine(taps * kStride, meter) {}
  static constexpr std::int64_t kStride = kTileRows + kVectorPad;
  Array<std::int32_t> coarse;   // [taps, kStride]
  Array<std::int32_t> fine;     // [taps, kStride]
  std::int32_t count[32] = {};  // [taps]
};

/// Reads every tap of coarse positions [begin, end), at most kTileRows of them, out of their windows.
void read_windows(const Sweep& sweep, std::int64_t begin, std::int64_t end, TilePairs& pairs);

}  // namespace aerogel::cpu
