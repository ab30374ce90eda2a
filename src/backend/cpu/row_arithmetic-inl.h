// Arithmetic on rows of C floats, for kernels compiled once per instruction set.
#if defined(AEROGEL_CPU_ROW_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef AEROGEL_CPU_ROW_ARITHMETIC_INL_H_
#undef AEROGEL_CPU_ROW_ARITHMETIC_INL_H_
#else
#define AEROGEL_CPU_ROW_ARITHMETIC_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target
namespace hn = hwy::HWY_NAMESPACE;

/// body(d, c) for every full vector of the row, then body(one-lane d, c) for what is left.
template <class Body>
HWY_INLINE void for_each_vector(std::int64_t channels, Body&& body) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> d1;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) body(d, c);
  for (; c < channels; ++c) body(d1, c);
}

/// to[c] += from[c]
HWY_INLINE void add_row(const float* HWY_RESTRICT from, std::int64_t channels, float* HWY_RESTRICT to) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, to + c), hn::LoadU(d, from + c)), d, to + c);
  });
}

/// to[c] = max(to[c], from[c]), NaN from either side kept.
HWY_INLINE void max_row(const float* HWY_RESTRICT from, std::int64_t channels, float* HWY_RESTRICT to) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    const auto old = hn::LoadU(d, to + c);
    const auto x = hn::LoadU(d, from + c);
    hn::StoreU(hn::IfThenElse(hn::Or(hn::Gt(x, old), hn::IsNaN(x)), x, old), d, to + c);
  });
}

/// to[c] *= factor
HWY_INLINE void scale_row(float factor, std::int64_t channels, float* to) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, to + c), hn::Set(d, factor)), d, to + c);
  });
}

/// sums[c] += from[c] in double.
HWY_INLINE void add_row(const float* HWY_RESTRICT from, std::int64_t channels, double* HWY_RESTRICT sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + c), hn::PromoteTo(d, hn::LoadU(narrow, from + c))), d, sums + c);
  }
  for (; c < channels; ++c) sums[c] += from[c];
}

/// sums[c] += (from[c] − mean[c])² in double.
HWY_INLINE void add_squared_distance(const float* HWY_RESTRICT from, const double* HWY_RESTRICT mean,
                                     std::int64_t channels, double* HWY_RESTRICT sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto distance = hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, from + c)), hn::LoadU(d, mean + c));
    hn::StoreU(hn::MulAdd(distance, distance, hn::LoadU(d, sums + c)), d, sums + c);
  }
  for (; c < channels; ++c) sums[c] += (from[c] - mean[c]) * (from[c] - mean[c]);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
