// cpu/group_norm/row_parts/float
//
//   out[n, c] = (in[n, c] − mean[b, g]) / √(var[b, g] + eps) · weight[c] + bias[c]
//
//   in, out [N, C], rows of a batch item anywhere    weight, bias [C]    b the item of row n, g the group of
//   c
//
// Three passes: sums, squared distances to the mean, result. Rows are cut into parts whose number depends on
// N and B only; each keeps a sum in double per item and channel, and parts, then the channels of a group, are
// joined in order. The mean enters as the sum of two floats, so that a mean far from 0 costs no digits.
//
// Measured 2026-12-01, Intel Xeon family 6 model 207, AVX-512, one thread, mean cpu time on a busy shared
// machine (benchmark_rows): 66,035 rows of 64 channels in 8 groups, 8.0 ms.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/group_norm_row_parts.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <cmath>
#include <cstdint>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/item_parts.h"
#include "backend/cpu/op_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "core/feature_types.h"
#include "core/parallel.h"

#ifndef AEROGEL_BACKEND_CPU_GROUP_NORM_ONCE
#define AEROGEL_BACKEND_CPU_GROUP_NORM_ONCE
namespace aerogel::cpu {
/// Per item and channel, [B, C].
struct GroupNormCoefficients {
  std::vector<float> mean_high;
  std::vector<float> mean_low;
  std::vector<float> scale;  // weight / √(var + eps)
};
}  // namespace aerogel::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {

/// sums [B, C] += rows [begin, end), or with `mean` [B, C] their squared distances to it.
void sum_item_rows(const GroupNormArgs& args, const double* mean, std::int64_t begin, std::int64_t end,
                   double* sums) {
  const std::int64_t channels = args.in.size(1);
  with_feature_type(args.in.dtype(), [&]<class T>(T) HWY_ATTR {
    const T* in = args.in.data<T>();
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t item = args.coordinates.row(n)[0] * channels;
      mean == nullptr ? add_row(in + n * channels, channels, sums + item)
                      : add_squared_distance(in + n * channels, mean + item, channels, sums + item);
    }
  });
}

template <class T>
void norm_item_rows_of(const GroupNormArgs& args, const GroupNormCoefficients& by, std::int64_t begin,
                       std::int64_t end) {
  const std::int64_t channels = args.in.size(1);
  const float* bias = args.bias.defined() ? args.bias.data<float>() : nullptr;
  const T* in = args.in.data<T>() + begin * channels;
  T* out = args.out.mutable_data<T>() + begin * channels;
  for (std::int64_t n = begin; n < end; ++n, in += channels, out += channels) {
    const std::int64_t item = args.coordinates.row(n)[0] * channels;
    const float* mean_high = by.mean_high.data() + item;
    const float* mean_low = by.mean_low.data() + item;
    const float* scale = by.scale.data() + item;
    for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
      auto value =
          hn::Sub(hn::Sub(load_f32(d, in + c), hn::LoadU(d, mean_high + c)), hn::LoadU(d, mean_low + c));
      value = hn::Mul(value, hn::LoadU(d, scale + c));
      if (bias != nullptr) value = hn::Add(value, hn::LoadU(d, bias + c));
      store_f32(value, d, out + c);
    });
  }
}

void norm_item_rows(const GroupNormArgs& args, const GroupNormCoefficients& by, std::int64_t begin,
                    std::int64_t end) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { norm_item_rows_of<T>(args, by, begin, end); });
}

}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(sum_item_rows);
HWY_EXPORT(norm_item_rows);

/// The mean over each item and group of the rows, or with `mean` of their squared distances to it; [B, C],
/// every channel of a group alike.
std::vector<double> mean_of_groups(const GroupNormArgs& args, const std::vector<std::int64_t>& counts,
                                   const double* mean) {
  const std::int64_t n = args.in.size(0);
  const std::int64_t channels = args.in.size(1);
  const std::int64_t batch = args.coordinates.batch_size();
  const std::int64_t items = batch * channels;
  const std::int64_t rows = rows_of_part(n, batch);
  const std::int64_t parts = (n + rows - 1) / rows;
  std::vector<double> sums(static_cast<std::size_t>(parts * items), 0.0);
  parallel_chunks(n, rows, args.threads, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(sum_item_rows)(args, mean, begin, end, sums.data() + begin / rows * items);
  });
  const std::int64_t width = channels / args.groups;
  for (std::int64_t group = 0; group < batch * args.groups; ++group) {
    double sum = 0;
    for (std::int64_t at = group * width; at < (group + 1) * width; ++at) {
      for (std::int64_t part = 0; part < parts; ++part) sum += sums[part * items + at];
    }
    const double count = static_cast<double>(counts[group / args.groups]) * static_cast<double>(width);
    std::fill_n(sums.begin() + group * width, width, sum / count);  // an item without sites is never read
  }
  sums.resize(static_cast<std::size_t>(items));
  return sums;
}

void run(const GroupNormArgs& args) {
  const std::int64_t channels = args.in.size(1);
  if (args.in.numel() == 0) return;
  const std::vector<std::int64_t> counts = sites_of_items(args.coordinates);
  const std::vector<double> mean = mean_of_groups(args, counts, nullptr);
  const std::vector<double> variance = mean_of_groups(args, counts, mean.data());
  GroupNormCoefficients by{std::vector<float>(mean.size()), std::vector<float>(mean.size()),
                           std::vector<float>(mean.size())};
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double weight =
        args.weight.defined() ? args.weight.data<float>()[i % static_cast<std::size_t>(channels)] : 1.0;
    by.mean_high[i] = static_cast<float>(mean[i]);
    by.mean_low[i] = static_cast<float>(mean[i] - by.mean_high[i]);
    by.scale[i] = static_cast<float>(weight / std::sqrt(variance[i] + args.eps));
  }
  constexpr std::int64_t kChunkElements = 1 << 16;
  parallel_chunks(args.in.size(0), kChunkElements / channels, args.threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    HWY_DYNAMIC_DISPATCH(norm_item_rows)(args, by, begin, end);
                  });
}

}  // namespace

const Kernel<GroupNormArgs> kGroupNormRowParts = {
    "cpu/group_norm/row_parts/float", "statistics in double over parts of the rows, joined in order",
    supports_all, nullptr, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
