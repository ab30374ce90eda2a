// One segment of pairs for every group of channels, from features of any dtype. f32 rows are multiplied where
// they lie; f16 and bf16 rows are first widened into a stage that stays in the cache, a part of the segment
// at a time, so that the microkernel is one and memory stays bounded.
//
// Measured 2026-12-01, Intel Xeon family 6 model 207, AVX-512, one thread, least cpu time of 25 calls taken
// in turn on a busy shared machine: a 3×3×3 submanifold layer on a shell of 43,538 sites takes 1.33 (bf16)
// and 1.31 (f16) of f32's time at C_in = C_out = 16, and 1.10 and 1.09 at 64.
//
// Re-included once per Highway target.
#if defined(AEROGEL_BACKEND_CPU_GROUPED_SEGMENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef AEROGEL_BACKEND_CPU_GROUPED_SEGMENT_INL_H_
#undef AEROGEL_BACKEND_CPU_GROUPED_SEGMENT_INL_H_
#else
#define AEROGEL_BACKEND_CPU_GROUPED_SEGMENT_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <hwy/cache_control.h>

#include "backend/cpu/feature_vectors-inl.h"
#include "backend/cpu/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target and file

/// Where rows of one thread are widened. Nothing for f32.
template <class T>
class RowStage {
 public:
  static constexpr bool kNeeded = !std::is_same_v<T, float>;

  /// Rows of C_in channels that are widened at a time.
  static std::int64_t rows(std::int64_t c_in) {
    return kNeeded ? std::clamp<std::int64_t>(kFloats / c_in, 24, 512) : 0;
  }
  /// Scratch of one thread, a multiple of a cache line.
  static std::int64_t bytes(std::int64_t c_in) {
    const std::int64_t integers = kNeeded ? rows(c_in) + kAhead : 0;
    return (integers * 8 + rows(c_in) * c_in * 4 + 63) / 64 * 64;
  }

  RowStage(std::int64_t c_in, char* scratch)
      : c_in_(c_in),
        rows_(rows(c_in)),
        offset_(reinterpret_cast<std::int64_t*>(scratch)),
        floats_(reinterpret_cast<float*>(scratch + (kNeeded ? rows_ + kAhead : 0) * 8)) {
    for (std::int64_t row = 0; kNeeded && row < rows_ + kAhead; ++row)
      offset_[row] = std::min(row, rows_ - 1) * c_in;
  }

  /// Calls multiply(in, segment) for the segment, or for its parts, with rows in f32.
  template <class Multiply>
  HWY_INLINE void for_each_part(const Segment& segment, const T* in, Multiply&& multiply) const {
    if constexpr (kNeeded) {
      for (std::int64_t first = 0; first < segment.pairs; first += rows_) {
        const std::int64_t count = std::min(rows_, segment.pairs - first);
        widen(in, segment.in_offset + first, count);
        multiply(floats_, Segment{offset_, segment.acc_offset + first, count});
      }
    } else {
      multiply(in, segment);
    }
  }

 private:
  static constexpr std::int64_t kFloats = 8192;  // 32 KiB, beside a panel of weights
  static constexpr std::int64_t kRowsAhead = 8;  // between the prefetch of a row and its use; at most kAhead

  HWY_NOINLINE void widen(const T* in, const std::int64_t* in_offset, std::int64_t count) const {
    for (std::int64_t row = 0; row < count; ++row) {
      const T* from = in + in_offset[row];
      const char* ahead = reinterpret_cast<const char*>(in + in_offset[row + kRowsAhead]);
      float* to = floats_ + row * c_in_;
      for (std::int64_t at = 0; at < c_in_ * static_cast<std::int64_t>(sizeof(T)); at += 64)
        hwy::Prefetch(ahead + at);
      for_each_vector(c_in_,
                      [&](auto d, std::int64_t c) HWY_ATTR { hn::StoreU(load_f32(d, from + c), d, to + c); });
    }
  }

  std::int64_t c_in_;
  std::int64_t rows_;
  std::int64_t* offset_;  // [rows + kAhead] of a staged row
  float* floats_;         // [rows, C_in]
};

/// Adds one segment: rows of `in` [.., C_in of all groups] times `weight` [group, panel, C_in of a group,
/// columns of the panel] into rows of `acc` [.., accumulator row].
template <class T>
void add_groups(const Grouped& grouped, const Segment& segment, const T* in, const float* weight, float* acc,
                const RowStage<T>& stage) {
  stage.for_each_part(segment, in, [&](const float* rows, const Segment& part) HWY_ATTR {
    for (std::int64_t g = 0; g < grouped.groups; ++g) {
      add_segment(part, rows + g * grouped.c_in, weight + g * grouped.weights(), acc + g * grouped.columns,
                  grouped.c_in, grouped.columns);
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#endif  // AEROGEL_BACKEND_CPU_GROUPED_SEGMENT_INL_H_
