// cpu/pool/pair_list/float
//
//   max: out[o, :] = max(identity, in[i, :])        sum: out[o, :] = Σ in[i, :]
//   average: the sum over the number of pairs of o
//
//   over pairs (i, o) of every offset    in [N_in, C]    out [N_out, C]
//
// Output-stationary: tiles of output rows that stay cached while the offsets pass; f16 and bf16 accumulate in
// f32 beside it. Lists are sorted by output row, so a tile's share of an offset is found by binary search.
// Rows sum in offset order whatever the tiles and threads.
//
// Measured 2026-12-01, Intel Xeon family 6 model 207, AVX-512, one thread, least cpu time of 40 repetitions
// on a busy shared machine (benchmark_rows): 3×3×3 of stride 2 on lidar:0 (66,035 sites to 56,545, 222,858
// pairs), C = 64, maximum 5.5 ms, mean 4.1 ms: 25 and 18 ns a pair.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/pool_pair_list.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/op_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "core/feature_types.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {

/// Output rows [begin, end); counts [end − begin] and, for features that are not f32, sums [end − begin, C]
/// are scratch.
template <class T>
void pool_tile_of(const PoolArgs& args, std::int64_t begin, std::int64_t end, std::int32_t* counts,
                  float* sums) {
  const bool is_max = args.kind == PoolKind::kMax;
  const std::int64_t channels = args.out.size(1);
  const T* in = args.in.data<T>();
  T* out = args.out.mutable_data<T>() + begin * channels;
  if constexpr (std::is_same_v<T, float>) sums = out;
  const auto* in_rows = args.map->in_rows.data<std::int32_t>();
  const auto* out_rows = args.map->out_rows.data<std::int32_t>();
  const auto* offset_begin = args.map->offset_begin.data<std::int64_t>();
  std::fill_n(sums, (end - begin) * channels, is_max ? args.identity : 0.0f);
  std::fill_n(counts, end - begin, 0);
  for (std::int64_t k = 0; k + 1 < args.map->offset_begin.numel(); ++k) {
    const std::int32_t* stop = out_rows + offset_begin[k + 1];
    const std::int32_t* first = std::lower_bound(out_rows + offset_begin[k], stop, begin);
    for (std::int64_t p = first - out_rows; p < offset_begin[k + 1] && out_rows[p] < end; ++p) {
      const T* from = in + in_rows[p] * channels;
      float* to = sums + (out_rows[p] - begin) * channels;
      is_max ? max_row(from, channels, to) : add_row(from, channels, to);
      ++counts[out_rows[p] - begin];
    }
  }
  for (std::int64_t row = 0; args.kind == PoolKind::kAvg && row < end - begin; ++row) {
    if (counts[row] > 1) scale_row(1.0f / static_cast<float>(counts[row]), channels, sums + row * channels);
  }
  if constexpr (!std::is_same_v<T, float>) store_row(sums, (end - begin) * channels, out);
}

void pool_tile(const PoolArgs& args, std::int64_t begin, std::int64_t end, std::int32_t* counts,
               float* sums) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { pool_tile_of<T>(args, begin, end, counts, sums); });
}

}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(pool_tile);

constexpr std::int64_t kTileBytes = 128 << 10;  // of output: a part of an L2 cache

void run(const PoolArgs& args) {
  const std::int64_t channels = args.out.size(1);
  if (channels == 0) return;
  const std::int64_t rows = std::clamp<std::int64_t>(kTileBytes / 4 / channels, 16, 2048);
  const int slots = resolve_threads(args.threads);
  std::vector<std::int32_t> counts(static_cast<std::size_t>(slots * rows));
  const std::int64_t tile =
      args.in.dtype() == DType::kF32 ? 0 : rows * channels;  // f32 sums in the output itself
  std::vector<float> sums(static_cast<std::size_t>(slots * tile));
  parallel_chunks(args.out.size(0), rows, args.threads, [&](std::int64_t begin, std::int64_t end, int slot) {
    HWY_DYNAMIC_DISPATCH(pool_tile)(args, begin, end, counts.data() + slot * rows, sums.data() + slot * tile);
  });
}

}  // namespace

const Kernel<PoolArgs> kPoolPairList = {"cpu/pool/pair_list/float", "tiles of output rows, offset by offset",
                                        supports_all, nullptr, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
