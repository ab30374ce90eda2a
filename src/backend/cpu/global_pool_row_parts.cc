// cpu/global_pool/row_parts/float
//
//   max: out[b, :] = max(identity, in[n, :])        sum: out[b, :] = Σ in[n, :]        average: the sum over
//   the sites of b; over the sites n of b
//
//   in [N, C], rows of a batch item anywhere    out [B, C]
//
// Rows are cut into parts whose number depends on N and B only. Each part keeps a maximum (f32) or a sum
// (double) per batch item; parts are joined in order. Many batch items mean few parts, so that the parts
// never outweigh the input.
//
// Measured 2026-12-01, Intel Xeon family 6 model 207, AVX-512, one thread, least cpu time of 40 repetitions
// on a busy shared machine (benchmark_rows): 66,035 × 64 in one item, maximum 0.85 ms (20 GB/s), mean 1.2 ms
// (14 GB/s: it widens to double).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/global_pool_row_parts.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/item_parts.h"
#include "backend/cpu/op_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "core/feature_types.h"
#include "core/half.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {

void max_rows(const GlobalPoolArgs& args, std::int64_t begin, std::int64_t end, float* items) {
  const std::int64_t channels = args.out.size(1);
  with_feature_type(args.in.dtype(), [&]<class T>(T) HWY_ATTR {
    const T* in = args.in.data<T>();
    for (std::int64_t n = begin; n < end; ++n) {
      max_row(in + n * channels, channels, items + args.coordinates.row(n)[0] * channels);
    }
  });
}

void sum_rows(const GlobalPoolArgs& args, std::int64_t begin, std::int64_t end, double* items) {
  const std::int64_t channels = args.out.size(1);
  with_feature_type(args.in.dtype(), [&]<class T>(T) HWY_ATTR {
    const T* in = args.in.data<T>();
    for (std::int64_t n = begin; n < end; ++n) {
      add_row(in + n * channels, channels, items + args.coordinates.row(n)[0] * channels);
    }
  });
}

void join_maxima(const float* part, std::int64_t count, float* out) { max_row(part, count, out); }

}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(max_rows);
HWY_EXPORT(sum_rows);
HWY_EXPORT(join_maxima);

template <class T>
void run_of(const GlobalPoolArgs& args) {
  const std::int64_t n = args.in.size(0);
  const std::int64_t batch = args.out.size(0);
  const std::int64_t channels = args.out.size(1);
  const std::int64_t items = batch * channels;
  const std::int64_t rows = rows_of_part(n, batch);
  const std::int64_t parts = (n + rows - 1) / rows;
  T* out = args.out.mutable_data<T>();
  if (args.kind == PoolKind::kMax) {
    std::vector<float> maxima(static_cast<std::size_t>(parts * items), args.identity);
    parallel_chunks(n, rows, args.threads, [&](std::int64_t begin, std::int64_t end) {
      HWY_DYNAMIC_DISPATCH(max_rows)(args, begin, end, maxima.data() + begin / rows * items);
    });
    std::vector<float> joined(static_cast<std::size_t>(items), args.identity);
    for (std::int64_t part = 0; part < parts; ++part) {
      HWY_DYNAMIC_DISPATCH(join_maxima)(maxima.data() + part * items, items, joined.data());
    }
    std::transform(joined.begin(), joined.end(), out, [](float value) { return round_to<T>(value); });
    return;
  }
  std::vector<double> sums(static_cast<std::size_t>(std::max<std::int64_t>(parts, 1) * items), 0.0);
  parallel_chunks(n, rows, args.threads, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(sum_rows)(args, begin, end, sums.data() + begin / rows * items);
  });
  const std::vector<std::int64_t> counts = sites_of_items(args.coordinates);
  for (std::int64_t i = 0; i < items; ++i) {
    for (std::int64_t part = 1; part < parts; ++part) sums[i] += sums[part * items + i];
    const std::int64_t divisor = args.kind == PoolKind::kAvg ? counts[i / channels] : 1;
    out[i] = round_to<T>(sums[i] / static_cast<double>(std::max<std::int64_t>(divisor, 1)));
  }
}

void run(const GlobalPoolArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { run_of<T>(args); });
}

}  // namespace

const Kernel<GlobalPoolArgs> kGlobalPoolRowParts = {
    "cpu/global_pool/row_parts/float", "parts of the rows, joined in order", supports_all, nullptr, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
