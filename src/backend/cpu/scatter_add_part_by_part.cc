// cpu/scatter_add/part_by_part/float
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
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/op_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "core/feature_types.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {

/// out[rows[j], :] += part[j, :] for j in [begin, end).
void add_rows(const Tensor& part, const Tensor& rows, std::int64_t begin, std::int64_t end,
              const Tensor& out) {
  const std::int64_t channels = out.size(1);
  with_feature_type(out.dtype(), [&]<class T>(T) HWY_ATTR {
    const std::int32_t* to = rows.data<std::int32_t>();
    for (std::int64_t j = begin; j < end; ++j) {
      add_row(part.data<T>() + j * channels, channels, out.mutable_data<T>() + to[j] * channels);
    }
  });
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
  const auto size = static_cast<std::int64_t>(itemsize(args.out.dtype()));
  char* out = static_cast<char*>(args.out.raw());
  parallel_chunks(args.out.numel(), kChunkElements, args.threads, [&](std::int64_t begin, std::int64_t end) {
    std::memset(out + begin * size, 0, static_cast<std::size_t>((end - begin) * size));
  });
  for (std::size_t i = 0; i < args.parts.size(); ++i) {
    parallel_chunks(args.parts[i].size(0), kChunkElements / channels, args.threads,
                    [&](std::int64_t begin, std::int64_t end) {
                      HWY_DYNAMIC_DISPATCH(add_rows)(args.parts[i], args.rows[i], begin, end, args.out);
                    });
  }
}

}  // namespace

const Kernel<ScatterAddArgs> kScatterAddPartByPart = {"cpu/scatter_add/part_by_part/float",
                                                      "rows of a part in parallel, parts in order",
                                                      supports_all, nullptr, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
