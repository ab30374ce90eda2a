// The f32 microkernel that sparse convolution and linear layers share: rows of `in`, picked by index, times a
// packed weight matrix, added into rows of an accumulator tile that stays in cache.
//
//   acc[o, :] += in[i, :] · W      for the pairs (i, o) of a segment
//
// A block keeps kRows × NV vectors of accumulators in registers and broadcasts one input element per row and
// step. Pairs are cut into blocks of at most kRows rows whose sizes differ by one at most, so no block is a
// short tail. Every element is summed over C_in in ascending order whatever the block: results do not depend
// on tile or block.
//
// Re-included once per Highway target.
#if defined(AEROGEL_BACKEND_CPU_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef AEROGEL_BACKEND_CPU_GEMM_TILE_INL_H_
#undef AEROGEL_BACKEND_CPU_GEMM_TILE_INL_H_
#else
#define AEROGEL_BACKEND_CPU_GEMM_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#if defined(__clang__)
#define AEROGEL_UNROLL _Pragma("clang loop unroll(full)")
#define AEROGEL_UNROLL_4 _Pragma("clang loop unroll_count(4)")
#else
#define AEROGEL_UNROLL _Pragma("GCC unroll 16")
#define AEROGEL_UNROLL_4 _Pragma("GCC unroll 4")
#endif

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target and file

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr std::int64_t kLanes = hn::MaxLanes(D());
constexpr std::int64_t kLine = 16;  // floats of a cache line

// Register blocks. 32 vector registers hold 6×4 accumulators, 4 weights and 1 input; 16 hold 6×2, 2 and 1.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kMaxVectors = 4;
constexpr bool kWeightsInRegisters = true;
template <int NV>
constexpr int kRows = NV == 1   ? 5
                      : NV <= 3 ? 8
                                : 6;
#else
constexpr int kMaxVectors = 2;
constexpr bool kWeightsInRegisters = false;
template <int NV>
constexpr int kRows = NV == 1 ? 8 : 6;
#endif

// C_in is walked in stretches of this many rows of a panel, so that the panel stretch stays in the L1 cache.
constexpr std::int64_t kStretch = 64;

inline std::int64_t vectors_of(std::int64_t c_out) { return (c_out + kLanes - 1) / kLanes; }
inline std::int64_t padded_columns(std::int64_t c_out) { return vectors_of(c_out) * kLanes; }

/// Weight columns fall into panels of at most kMaxVectors vectors whose widths differ by one at most.
inline std::int64_t panels_of(std::int64_t vectors) { return (vectors + kMaxVectors - 1) / kMaxVectors; }

/// Channels of a layer by group. Accumulator rows hold the groups side by side, each padded to whole vectors.
struct Grouped {
  std::int64_t groups;
  std::int64_t c_in;     // of one group
  std::int64_t c_out;    // of one group
  std::int64_t columns;  // of one group

  Grouped(std::int64_t group_count, std::int64_t all_in, std::int64_t all_out)
      : groups(group_count),
        c_in(all_in / group_count),
        c_out(all_out / group_count),
        columns(padded_columns(c_out)) {}
  std::int64_t row() const { return groups * columns; }    // floats of an accumulator row
  std::int64_t all_out() const { return groups * c_out; }  // floats of an output row
  std::int64_t weights() const { return c_in * columns; }  // packed floats of one kernel offset and group
};

/// weight [C_out, K, C_in of a group] → packed [K, group, panel, C_in of a group, columns of the panel],
/// zero-padded to whole vectors.
inline void pack_panels(const float* weight, std::int64_t volume, const Grouped& grouped, float* packed) {
  const std::int64_t vectors = grouped.columns / kLanes;
  const std::int64_t c_in = grouped.c_in;
  const std::int64_t c_out = grouped.c_out;
  for (std::int64_t place = 0; place < volume * grouped.groups; ++place) {
    const std::int64_t k = place / grouped.groups;
    const std::int64_t first = place % grouped.groups * c_out;  // of the group's output channels
    float* to = packed + place * grouped.weights();
    const std::int64_t panels = panels_of(vectors);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t begin = vectors * panel / panels * kLanes;
      const std::int64_t end = vectors * (panel + 1) / panels * kLanes;
      for (std::int64_t ci = 0; ci < c_in; ++ci) {
        for (std::int64_t co = begin; co < end; ++co) {
          *to++ = co < c_out ? weight[((first + co) * volume + k) * c_in + ci] : 0.0F;
        }
      }
    }
  }
}

/// A segment: the pairs of one kernel offset in one tile, as element offsets of their rows. kAhead entries
/// behind the last pair may be read too; they are only prefetched.
struct Segment {
  const std::int64_t* in_offset;   // of an input row from `in`
  const std::int64_t* acc_offset;  // of an accumulator row from `acc`
  std::int64_t pairs;
};
constexpr std::int64_t kAhead = 32;

// Blocks between the prefetch of an input row and its use: narrow blocks are too short to hide an L3 access.
template <int NV>
constexpr int kBlocksAhead = NV <= 2 ? 2 : 1;

/// A stretch of C_in of one panel.
struct Panel {
  const float* in;      // where the stretch begins in the input row at offset 0
  const float* weight;  // [depth, NV vectors]
  float* acc;           // where the panel begins in the accumulator row at offset 0
  std::int64_t depth;
};

/// Blocks of MR pairs from pair p on.
template <int MR, int NV>
HWY_NOINLINE void add_blocks(const Segment& segment, const Panel& panel, std::int64_t p,
                             std::int64_t blocks) {
  const D d;
  const float* const in = panel.in;  // copies: stores would force reloads of what the references hold
  float* const acc = panel.acc;
  const std::int64_t depth = panel.depth;
  const std::int64_t* in_offset = segment.in_offset + p;
  const std::int64_t* acc_offset = segment.acc_offset + p;
  for (; blocks > 0; --blocks, in_offset += MR, acc_offset += MR) {
    const float* x[MR];
    V sum[MR][NV];
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) {
      x[r] = in + in_offset[r];
      AEROGEL_UNROLL
      for (int v = 0; v < NV; ++v) sum[r][v] = hn::Load(d, acc + acc_offset[r] + v * kLanes);
    }
    const float* w = panel.weight;
    const auto step = [&](std::int64_t ci) HWY_ATTR {
      V weight[NV];
      AEROGEL_UNROLL
      for (int v = 0; v < NV; ++v) weight[v] = hn::Load(d, w + v * kLanes);
      w += NV * kLanes;
      AEROGEL_UNROLL
      for (int r = 0; r < MR; ++r) {
        const V value = hn::Set(d, x[r][ci]);
        AEROGEL_UNROLL
        for (int v = 0; v < NV; ++v) sum[r][v] = hn::MulAdd(value, weight[v], sum[r][v]);
      }
    };
    std::int64_t ci = 0;
    for (; ci + kLine <= depth; ci += kLine) {
      AEROGEL_UNROLL
      for (int r = 0; r < MR; ++r) {
        hwy::Prefetch(in + in_offset[kBlocksAhead<NV> * MR + r] + ci);
        if (ci < NV * kLanes) hwy::Prefetch(acc + acc_offset[MR + r] + ci);
      }
      for (std::int64_t i = ci; i < ci + kLine; i += 4) {
        step(i);
        step(i + 1);
        step(i + 2);
        step(i + 3);
      }
    }
    for (; ci < depth; ++ci) step(ci);
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) {
      AEROGEL_UNROLL
      for (int v = 0; v < NV; ++v) hn::Store(sum[r][v], d, acc + acc_offset[r] + v * kLanes);
    }
  }
}

/// One vector of columns: 16 weight vectors stay in registers for the whole segment, so that the only loads
/// left are the broadcasts, one per multiply-add.
template <int MR>
HWY_NOINLINE void add_blocks_narrow(const Segment& segment, const Panel& panel, std::int64_t p,
                                    std::int64_t blocks) {
  const D d;
  const float* const in = panel.in;
  float* const acc = panel.acc;
  const std::int64_t* in_offset = segment.in_offset + p;
  const std::int64_t* acc_offset = segment.acc_offset + p;
  V weight[kLine];
  AEROGEL_UNROLL
  for (int i = 0; i < kLine; ++i) weight[i] = hn::Load(d, panel.weight + i * kLanes);
  for (; blocks > 0; --blocks, in_offset += MR, acc_offset += MR) {
    const float* x[MR];
    V sum[MR];
    V odd[MR];
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) {
      hwy::Prefetch(in + in_offset[kAhead - MR + r]);
      x[r] = in + in_offset[r];
      sum[r] = hn::Load(d, acc + acc_offset[r]);
    }
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) odd[r] = hn::Mul(hn::Set(d, x[r][1]), weight[1]);
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) sum[r] = hn::MulAdd(hn::Set(d, x[r][0]), weight[0], sum[r]);
    AEROGEL_UNROLL
    for (int i = 2; i < kLine; i += 2) {
      AEROGEL_UNROLL
      for (int r = 0; r < MR; ++r) sum[r] = hn::MulAdd(hn::Set(d, x[r][i]), weight[i], sum[r]);
      AEROGEL_UNROLL
      for (int r = 0; r < MR; ++r) odd[r] = hn::MulAdd(hn::Set(d, x[r][i + 1]), weight[i + 1], odd[r]);
    }
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) hn::Store(hn::Add(sum[r], odd[r]), d, acc + acc_offset[r]);
  }
}

/// add_blocks<rows, NV> for a number of rows known at run time.
template <int NV, int MR = kRows<NV>>
HWY_INLINE void add_blocks_of(std::int64_t rows, const Segment& segment, const Panel& panel, std::int64_t p,
                              std::int64_t blocks) {
  if (rows == MR) {
    if constexpr (NV == 1 && kWeightsInRegisters) {
      if (panel.depth == kLine) return add_blocks_narrow<MR>(segment, panel, p, blocks);
    }
    return add_blocks<MR, NV>(segment, panel, p, blocks);
  }
  if constexpr (MR > 1) add_blocks_of<NV, MR - 1>(rows, segment, panel, p, blocks);
}

template <int NV>
HWY_INLINE void add_panel(const Segment& segment, const float* in, const float* weight, float* acc,
                          std::int64_t c_in) {
  constexpr std::int64_t stretch = NV == 1 && kWeightsInRegisters ? kLine : kStretch;
  const std::int64_t blocks = (segment.pairs + kRows<NV> - 1) / kRows<NV>;
  const std::int64_t rows = segment.pairs / blocks;           // of the small blocks
  const std::int64_t larger = segment.pairs - rows * blocks;  // blocks with one row more
  for (std::int64_t ci = 0; ci < c_in; ci += stretch) {
    const Panel panel{in + ci, weight + ci * NV * kLanes, acc, std::min(stretch, c_in - ci)};
    if (larger > 0) add_blocks_of<NV>(rows + 1, segment, panel, 0, larger);
    if (larger < blocks) add_blocks_of<NV>(rows, segment, panel, larger * (rows + 1), blocks - larger);
  }
}

/// Adds one segment: rows of `in` [.., C_in] times `weight` [panel, C_in, columns of the panel] into rows of
/// `acc`
/// [.., columns].
inline void add_segment(const Segment& segment, const float* in, const float* weight, float* acc,
                        std::int64_t c_in, std::int64_t columns) {
  if (segment.pairs == 0) return;
  const std::int64_t vectors = columns / kLanes;
  const std::int64_t panels = panels_of(vectors);
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const std::int64_t first = vectors * panel / panels;
    const std::int64_t count = vectors * (panel + 1) / panels - first;
    const float* w = weight + first * kLanes * c_in;
    float* to = acc + first * kLanes;
    if (count == 1) add_panel<1>(segment, in, w, to, c_in);
    if (count == 2) add_panel<2>(segment, in, w, to, c_in);
    if constexpr (kMaxVectors > 2) {
      if (count == 3) add_panel<3>(segment, in, w, to, c_in);
      if (count == 4) add_panel<4>(segment, in, w, to, c_in);
    }
  }
}

/// offsets[i] = (rows[i] − first) · stride, both factors in 32 bits.
inline void row_offsets(const std::int32_t* rows, std::int64_t count, std::int32_t first, std::int64_t stride,
                        std::int64_t* offsets) {
  const auto width = static_cast<std::uint32_t>(stride);
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint64_t> d64;
  const hn::Repartition<std::uint32_t, decltype(d64)> d32;
  const hn::Rebind<std::uint32_t, decltype(d64)> half;
  constexpr std::int64_t step = hn::MaxLanes(hn::ScalableTag<std::uint64_t>());
  const auto widths = hn::Set(d32, width);
  const auto firsts = hn::Set(d64, static_cast<std::uint32_t>(first));
  for (; i + step <= count; i += step) {
    const auto row = hn::Sub(
        hn::PromoteTo(d64, hn::LoadU(half, reinterpret_cast<const std::uint32_t*>(rows) + i)), firsts);
    hn::StoreU(hn::MulEven(hn::BitCast(d32, row), widths), d64,
               reinterpret_cast<std::uint64_t*>(offsets) + i);
  }
#endif
  for (; i < count; ++i) {
    offsets[i] =
        static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(rows[i] - first)} * width);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#endif  // AEROGEL_BACKEND_CPU_GEMM_TILE_INL_H_
