// Arithmetic on rows of C features, accumulated in f32 or f64, for kernels compiled once per instruction set.
#if defined(AEROGEL_CPU_ROW_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef AEROGEL_CPU_ROW_ARITHMETIC_INL_H_
#undef AEROGEL_CPU_ROW_ARITHMETIC_INL_H_
#else
#define AEROGEL_CPU_ROW_ARITHMETIC_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "backend/cpu/feature_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target
namespace hn = hwy::HWY_NAMESPACE;

/// to[c] += from[c]
template <class From, class To>
HWY_INLINE void add_row(const From* HWY_RESTRICT from, std::int64_t channels, To* HWY_RESTRICT to) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    store_f32(hn::Add(load_f32(d, to + c), load_f32(d, from + c)), d, to + c);
  });
}

/// to[c] = max(to[c], from[c]), NaN from either side kept.
template <class From>
HWY_INLINE void max_row(const From* HWY_RESTRICT from, std::int64_t channels, float* HWY_RESTRICT to) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    const auto old = hn::LoadU(d, to + c);
    const auto x = load_f32(d, from + c);
    hn::StoreU(hn::IfThenElse(hn::Or(hn::Gt(x, old), hn::IsNaN(x)), x, old), d, to + c);
  });
}

/// to[c] *= factor
HWY_INLINE void scale_row(float factor, std::int64_t channels, float* to) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, to + c), hn::Set(d, factor)), d, to + c);
  });
}

/// to[c] = from[c]
template <class To>
HWY_INLINE void store_row(const float* HWY_RESTRICT from, std::int64_t channels, To* HWY_RESTRICT to) {
  for_each_vector(channels,
                  [&](auto d, std::int64_t c) HWY_ATTR { store_f32(hn::LoadU(d, from + c), d, to + c); });
}

/// sums[c] += from[c] in double.
template <class From>
HWY_INLINE void add_row(const From* HWY_RESTRICT from, std::int64_t channels, double* HWY_RESTRICT sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + c), hn::PromoteTo(d, load_f32(narrow, from + c))), d, sums + c);
  }
  for (; c < channels; ++c) sums[c] += to_f32(from[c]);
}

/// sums[c] += (from[c] − mean[c])² in double.
template <class From>
HWY_INLINE void add_squared_distance(const From* HWY_RESTRICT from, const double* HWY_RESTRICT mean,
                                     std::int64_t channels, double* HWY_RESTRICT sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto distance = hn::Sub(hn::PromoteTo(d, load_f32(narrow, from + c)), hn::LoadU(d, mean + c));
    hn::StoreU(hn::MulAdd(distance, distance, hn::LoadU(d, sums + c)), d, sums + c);
  }
  for (; c < channels; ++c) {
    const double distance = to_f32(from[c]) - mean[c];
    sums[c] += distance * distance;
  }
}

/// Σ from[c] in double.
template <class From>
HWY_INLINE double sum_of_row(const From* from, std::int64_t channels) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes)
    sums = hn::Add(sums, hn::PromoteTo(d, load_f32(narrow, from + c)));
  double sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; c < channels; ++c) sum += to_f32(from[c]);
  return sum;
}

/// Σ (from[c] − mean)² in double.
template <class From>
HWY_INLINE double squared_distance_of_row(const From* from, double mean, std::int64_t channels) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto distance = hn::Sub(hn::PromoteTo(d, load_f32(narrow, from + c)), hn::Set(d, mean));
    sums = hn::MulAdd(distance, distance, sums);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; c < channels; ++c) {
    const double distance = to_f32(from[c]) - mean;
    sum += distance * distance;
  }
  return sum;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
