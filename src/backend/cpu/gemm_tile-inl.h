// The f32 microkernel that sparse convolution and linear layers share: rows of `in`, picked by index, times a
// packed weight matrix, added into rows of an accumulator tile that stays in cache.
//
//   acc[out_rows[p] − first_row, :] += in[in_rows[p], :] · W      for p in [begin, end)
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
constexpr int kRows = NV <= 3 ? 8 : 6;
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

/// weight [C_out, K, C_in] → packed [K, panel, C_in, columns of the panel], zero-padded to whole vectors.
inline void pack_panels(const float* weight, std::int64_t c_out, std::int64_t volume, std::int64_t c_in,
                        float* packed) {
  const std::int64_t vectors = vectors_of(c_out);
  for (std::int64_t k = 0; k < volume; ++k) {
    float* to = packed + k * c_in * vectors * kLanes;
    const std::int64_t panels = panels_of(vectors);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t begin = vectors * panel / panels * kLanes;
      const std::int64_t end = vectors * (panel + 1) / panels * kLanes;
      for (std::int64_t ci = 0; ci < c_in; ++ci) {
        for (std::int64_t co = begin; co < end; ++co) {
          *to++ = co < c_out ? weight[(co * volume + k) * c_in + ci] : 0.0F;
        }
      }
    }
  }
}

/// What one tile is computed from.
struct Tile {
  const float* in;               // [N_in, C_in]
  const std::int32_t* in_rows;   // [pairs]
  const std::int32_t* out_rows;  // [pairs], rows of the tile
  float* acc;                    // [rows of the tile, columns], vector-aligned
  std::int64_t c_in;
  std::int64_t columns;    // C_out padded to whole vectors
  std::int64_t first_row;  // the output row of acc[0]
};

/// A stretch of C_in of one panel.
struct Panel {
  const float* weight;  // [stretch, NV vectors]
  std::int64_t ci;      // where the stretch begins
  std::int64_t depth;   // its length
  std::int64_t column;  // of the panel in acc
};

template <int MR, int NV>
HWY_NOINLINE void add_blocks(const Tile& tile, const Panel& panel, std::int64_t p, std::int64_t blocks) {
  const D d;
  const std::int64_t depth = panel.depth;
  for (std::int64_t block = 0; block < blocks; ++block, p += MR) {
    const float* x[MR];
    const float* next[MR];
    float* y[MR];
    V acc[MR][NV];
    const std::int64_t ahead = block + 1 < blocks ? p + MR : p;
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) {
      x[r] = tile.in + tile.in_rows[p + r] * tile.c_in + panel.ci;
      next[r] = tile.in + tile.in_rows[ahead + r] * tile.c_in + panel.ci;
      y[r] = tile.acc + (tile.out_rows[p + r] - tile.first_row) * tile.columns + panel.column;
      AEROGEL_UNROLL
      for (int v = 0; v < NV; ++v) acc[r][v] = hn::Load(d, y[r] + v * kLanes);
    }
    const float* w = panel.weight;
    for (std::int64_t line = 0; line < depth; line += kLine) {
      AEROGEL_UNROLL
      for (int r = 0; r < MR; ++r) hwy::Prefetch(next[r] + line);
      const std::int64_t end = std::min(depth, line + kLine);
      AEROGEL_UNROLL_4
      for (std::int64_t ci = line; ci < end; ++ci, w += NV * kLanes) {
        V weight[NV];
        AEROGEL_UNROLL
        for (int v = 0; v < NV; ++v) weight[v] = hn::Load(d, w + v * kLanes);
        AEROGEL_UNROLL
        for (int r = 0; r < MR; ++r) {
          const V value = hn::Set(d, x[r][ci]);
          AEROGEL_UNROLL
          for (int v = 0; v < NV; ++v) acc[r][v] = hn::MulAdd(value, weight[v], acc[r][v]);
        }
      }
    }
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) {
      AEROGEL_UNROLL
      for (int v = 0; v < NV; ++v) hn::Store(acc[r][v], d, y[r] + v * kLanes);
    }
  }
}

/// One vector of columns: 16 weight vectors stay in registers for the whole segment, so that the only loads
/// left are the broadcasts, one per multiply-add.
template <int MR>
HWY_NOINLINE void add_blocks_narrow(const Tile& tile, const Panel& panel, std::int64_t p,
                                    std::int64_t blocks) {
  const D d;
  V weight[kLine];
  AEROGEL_UNROLL
  for (int i = 0; i < kLine; ++i) weight[i] = hn::Load(d, panel.weight + i * kLanes);
  for (std::int64_t block = 0; block < blocks; ++block, p += MR) {
    const float* x[MR];
    float* y[MR];
    V acc[MR];
    const std::int64_t ahead = block + 1 < blocks ? p + MR : p;
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) {
      hwy::Prefetch(tile.in + tile.in_rows[ahead + r] * tile.c_in + panel.ci);
      x[r] = tile.in + tile.in_rows[p + r] * tile.c_in + panel.ci;
      y[r] = tile.acc + (tile.out_rows[p + r] - tile.first_row) * tile.columns + panel.column;
      acc[r] = hn::Load(d, y[r]);
    }
    AEROGEL_UNROLL
    for (int i = 0; i < kLine; ++i) {
      AEROGEL_UNROLL
      for (int r = 0; r < MR; ++r) acc[r] = hn::MulAdd(hn::Set(d, x[r][i]), weight[i], acc[r]);
    }
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) hn::Store(acc[r], d, y[r]);
  }
}

/// add_blocks<rows, NV> for a number of rows known at run time.
template <int NV, int MR = kRows<NV>>
HWY_INLINE void add_blocks_of(std::int64_t rows, const Tile& tile, const Panel& panel, std::int64_t p,
                              std::int64_t blocks) {
  if (rows == MR) {
    if constexpr (NV == 1 && kWeightsInRegisters) {
      if (panel.depth == kLine) return add_blocks_narrow<MR>(tile, panel, p, blocks);
    }
    return add_blocks<MR, NV>(tile, panel, p, blocks);
  }
  if constexpr (MR > 1) add_blocks_of<NV, MR - 1>(rows, tile, panel, p, blocks);
}

template <int NV>
HWY_INLINE void add_panel(const Tile& tile, std::int64_t begin, std::int64_t end, const float* weight,
                          std::int64_t column) {
  constexpr std::int64_t stretch = NV == 1 && kWeightsInRegisters ? kLine : kStretch;
  const std::int64_t pairs = end - begin;
  const std::int64_t blocks = (pairs + kRows<NV> - 1) / kRows<NV>;
  const std::int64_t rows = pairs / blocks;           // of the small blocks
  const std::int64_t larger = pairs - rows * blocks;  // blocks with one row more
  for (std::int64_t ci = 0; ci < tile.c_in; ci += stretch) {
    const Panel panel{weight + ci * NV * kLanes, ci, std::min(stretch, tile.c_in - ci), column};
    if (larger > 0) add_blocks_of<NV>(rows + 1, tile, panel, begin, larger);
    if (larger < blocks) add_blocks_of<NV>(rows, tile, panel, begin + larger * (rows + 1), blocks - larger);
  }
}

/// Adds the pairs [begin, end) times one packed weight matrix [panel, C_in, columns of the panel].
inline void add_segment(const Tile& tile, std::int64_t begin, std::int64_t end, const float* weight) {
  if (begin == end) return;
  const std::int64_t vectors = tile.columns / kLanes;
  const std::int64_t panels = panels_of(vectors);
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const std::int64_t first = vectors * panel / panels;
    const std::int64_t count = vectors * (panel + 1) / panels - first;
    const float* w = weight + first * kLanes * tile.c_in;
    if (count == 1) add_panel<1>(tile, begin, end, w, first * kLanes);
    if (count == 2) add_panel<2>(tile, begin, end, w, first * kLanes);
    if constexpr (kMaxVectors > 2) {
      if (count == 3) add_panel<3>(tile, begin, end, w, first * kLanes);
      if (count == 4) add_panel<4>(tile, begin, end, w, first * kLanes);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#endif  // AEROGEL_BACKEND_CPU_GEMM_TILE_INL_H_
