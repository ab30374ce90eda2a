// cpu/scatter_add/part_by_part/f32
//
//   out = 0;  out[rows_i[j], :] += part_i[j, :], parts in order
//
//   part_i [N_i, C]    rows_i [N_i], distinct    out [N, C]
//
// Rows of one part are distinct, so they run in parallel; parts follow one another.
//
// Measured 2026-12-01, Intel Xeon family 6 model 207, AVX-512, one thread, least cpu time of 40 repetitions
// on a busy shared machine (benchmark_rows): lidar:0 and lidar:1 (66,035 and 62,268 rows of 64) 4.3 ms.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/scatter_add_part_by_part.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/op_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {

void add_rows(const float* part, const std::int32_t* rows, std::int64_t begin, std::int64_t end,
              std::int64_t channels, float* out) {
  for (std::int64_t j = begin; j < end; ++j) add_row(part + j * channels, channels, out + rows[j] * channels);
}

}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(add_rows);

constexpr std::int64_t kChunkElements = 1 << 16;

void run(const ScatterAddArgs& args) {
  const std::int64_t channels = args.out.size(1);
  if (channels == 0) return;
  float* out = args.out.mutable_data<float>();
  parallel_chunks(args.out.numel(), kChunkElements, args.threads,
                  [&](std::int64_t begin, std::int64_t end) { std::fill(out + begin, out + end, 0.0f); });
  for (std::size_t i = 0; i < args.parts.size(); ++i) {
    const float* part = args.parts[i].data<float>();
    const std::int32_t* rows = args.rows[i].data<std::int32_t>();
    parallel_chunks(args.parts[i].size(0), kChunkElements / channels, args.threads,
                    [&](std::int64_t begin, std::int64_t end) {
                      HWY_DYNAMIC_DISPATCH(add_rows)(part, rows, begin, end, channels, out);
                    });
  }
}

}  // namespace

const Kernel<ScatterAddArgs> kScatterAddPartByPart = {"cpu/scatter_add/part_by_part/f32",
                                                      "rows of a part in parallel, parts in order",
                                                      supports_all, nullptr, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
