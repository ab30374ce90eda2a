// The two inner loops of cpu/build_kernel_map/sorted_merge, which measures them with the whole
// (build_kernel_map_sorted_merge.cc): match_cells merges the sorted cells of a sweep with the sorted blocks
// of the fine line, a window of 64 places per cell; read_windows reads every tap of every coarse site out of
// its window, in vector code without branches.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/line_windows.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/line_windows.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void match_cells(Sweep& sweep, const Blocks& blocks, std::int64_t begin, std::int64_t end,
                 std::int64_t* counts) {
  if (begin == end) return;
  const Cells& cells = *sweep.cells;
  const std::uint64_t* block_key = blocks.key.get();
  std::int64_t block =
      std::lower_bound(block_key, block_key + blocks.count, cells.key[begin] + sweep.block_delta) - block_key;
  for (std::int64_t cell = begin; cell < end; ++cell) {
    const std::uint64_t asked = cells.key[cell] + sweep.block_delta;
    while (block_key[block] < asked) ++block;
    const bool low = block_key[block] == asked;
    const std::int64_t next = block + low;
    const bool high = block_key[next] == asked + 1;
    const std::uint64_t window = (low ? std::uint64_t{blocks.sites[block]} : 0) |
                                 (high ? std::uint64_t{blocks.sites[next]} << kBlock : 0);
    sweep.window[cell] = window;
    sweep.first_rank[cell] = blocks.first_rank[block];
    for (int tap = 0; tap < sweep.taps; ++tap) {
      counts[tap] +=
          static_cast<std::int64_t>(hwy::PopCount(cells.asked[cell] & (window >> (tap * sweep.step))));
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

void read_windows(const Sweep& sweep, std::int64_t begin, std::int64_t end, TilePairs& pairs) {
  for (int tap = 0; tap < sweep.taps; ++tap) {
    const std::int64_t list = tap * TilePairs::kStride;
    std::int32_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t cell = sweep.cells->of_row[i];
      const int place = sweep.cells->bit_of_row[i] + tap * sweep.step;
      const std::uint64_t window = sweep.window[cell];
      const std::uint64_t below = window & ((std::uint64_t{1} << place) - 1);
      pairs.coarse[list + count] = static_cast<std::int32_t>(i);
      pairs.fine[list + count] = sweep.first_rank[cell] + static_cast<std::int32_t>(hwy::PopCount(below));
      count += static_cast<std::int32_t>(window >> place & 1);
    }
    pairs.count[tap] = count;
  }
}

#else  // the same, a vector of coarse sites at a time

/// `kUnitStep`: from one tap to the next there is one place to count.
template <bool kUnitStep>
void read_windows_of(const Sweep& sweep, std::int64_t begin, std::int64_t end, TilePairs& pairs) {
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::RebindToSigned<decltype(d32)> di32;
  const hn::ScalableTag<std::uint64_t> d64;
  const hn::RebindToSigned<decltype(d64)> di64;
  const hn::Half<decltype(d32)> half32;
  const hn::Half<decltype(di32)> half_i32;
  const hn::Rebind<std::uint8_t, decltype(d32)> d8;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  const std::int32_t* of_row = sweep.cells->of_row.get();
  const std::uint8_t* bit_of_row = sweep.cells->bit_of_row.get();
  const std::uint64_t* windows = sweep.window.get();
  const int taps = sweep.taps;
  const int step = sweep.step;
  const auto one = hn::Set(d32, 1);
  const auto between = hn::Set(d32, step < 32 ? (std::uint32_t{1} << step) - 1 : ~std::uint32_t{0});
  std::int32_t* coarse_list[32];
  std::int32_t* fine_list[32];
  for (int tap = 0; tap < taps; ++tap) {
    coarse_list[tap] = pairs.coarse.get() + tap * TilePairs::kStride;
    fine_list[tap] = pairs.fine.get() + tap * TilePairs::kStride;
  }
  for (std::int64_t i = begin; i < end; i += lanes) {
    const auto cell = hn::LoadU(di32, of_row + i);
    const auto bit = hn::PromoteTo(d32, hn::LoadU(d8, bit_of_row + i));
    const auto window_low = hn::GatherIndex(d64, windows, hn::PromoteTo(di64, hn::LowerHalf(half_i32, cell)));
    const auto window_high =
        hn::GatherIndex(d64, windows, hn::PromoteTo(di64, hn::UpperHalf(half_i32, cell)));
    const auto shifted_low = hn::Shr(window_low, hn::PromoteTo(d64, hn::LowerHalf(half32, bit)));
    const auto shifted_high = hn::Shr(window_high, hn::PromoteTo(d64, hn::UpperHalf(half32, bit)));
    auto seen = hn::ConcatEven(d32, hn::BitCast(d32, shifted_high), hn::BitCast(d32, shifted_low));
    const auto first_block = hn::ConcatEven(d32, hn::BitCast(d32, window_high), hn::BitCast(d32, window_low));
    const auto below = hn::And(first_block, hn::Sub(hn::Shl(one, bit), one));
    auto rank = hn::Add(hn::BitCast(d32, hn::GatherIndex(di32, sweep.first_rank.get(), cell)),
                        hn::PopulationCount(below));
    const auto position = hn::Iota(di32, static_cast<std::int32_t>(i));
    const auto valid = hn::FirstN(d32, static_cast<std::size_t>(std::min(lanes, end - i)));
    for (int tap = 0;;) {
      const auto hit = hn::And(hn::TestBit(seen, one), valid);
      hn::CompressStore(position, hn::RebindMask(di32, hit), di32, coarse_list[tap]);
      const auto count = static_cast<std::int64_t>(
          hn::CompressStore(hn::BitCast(di32, rank), hn::RebindMask(di32, hit), di32, fine_list[tap]));
      coarse_list[tap] += count;
      fine_list[tap] += count;
      if (++tap == taps) break;
      if constexpr (kUnitStep) {
        rank = hn::Add(rank, hn::And(seen, one));
        seen = hn::ShiftRight<1>(seen);
      } else {
        rank = hn::Add(rank, hn::PopulationCount(hn::And(seen, between)));
        seen = hn::ShiftRightSame(seen, step);
      }
    }
  }
  for (int tap = 0; tap < taps; ++tap) {
    pairs.count[tap] =
        static_cast<std::int32_t>(coarse_list[tap] - (pairs.coarse.get() + tap * TilePairs::kStride));
  }
}

void read_windows(const Sweep& sweep, std::int64_t begin, std::int64_t end, TilePairs& pairs) {
  sweep.step == 1 ? read_windows_of<true>(sweep, begin, end, pairs)
                  : read_windows_of<false>(sweep, begin, end, pairs);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {

HWY_EXPORT(match_cells);
HWY_EXPORT(read_windows);

void match_cells(Sweep& sweep, const Blocks& blocks, std::int64_t begin, std::int64_t end,
                 std::int64_t* counts) {
  HWY_DYNAMIC_DISPATCH(match_cells)(sweep, blocks, begin, end, counts);
}

void read_windows(const Sweep& sweep, std::int64_t begin, std::int64_t end, TilePairs& pairs) {
  HWY_DYNAMIC_DISPATCH(read_windows)(sweep, begin, end, pairs);
}

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
