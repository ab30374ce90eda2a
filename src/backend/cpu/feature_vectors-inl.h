// Vectors of f32 from and to features of any dtype, for kernels compiled once per instruction set. f16 and
// bf16 are exact in f32; on the way back they are rounded to nearest even.
#if defined(AEROGEL_BACKEND_CPU_FEATURE_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef AEROGEL_BACKEND_CPU_FEATURE_VECTORS_INL_H_
#undef AEROGEL_BACKEND_CPU_FEATURE_VECTORS_INL_H_
#else
#define AEROGEL_BACKEND_CPU_FEATURE_VECTORS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "core/half.h"

// Highway rounds f16 towards zero and loses its infinities where the instruction set has no conversion.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_TARGET == HWY_NEON
#define AEROGEL_F16_INSTRUCTIONS 1
#else
#define AEROGEL_F16_INSTRUCTIONS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target and file
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_f32(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> load_f32(D d, const BF16* from) {
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<std::uint16_t, D> narrow;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(narrow, &from->bits))));
}

template <class D>
HWY_INLINE hn::Vec<D> load_f32(D d, const F16* from) {
#if AEROGEL_F16_INSTRUCTIONS
  const hn::Rebind<hwy::float16_t, D> narrow;
  return hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  HWY_ALIGN float values[hn::MaxLanes(D())];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) values[i] = to_f32(from[i]);
  return hn::Load(d, values);
#endif
}

template <class D>
HWY_INLINE void store_f32(hn::Vec<D> value, D d, float* to) {
  hn::StoreU(value, d, to);
}

template <class D>
HWY_INLINE void store_f32(hn::Vec<D> value, D d, BF16* to) {
  const hn::RebindToUnsigned<D> unsigned_bits;
  const hn::RebindToSigned<D> signed_bits;
  const hn::Rebind<std::uint16_t, D> narrow;
  const auto bits = hn::BitCast(unsigned_bits, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(unsigned_bits, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(unsigned_bits, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(unsigned_bits, 0x400000));  // rounding could make a NaN infinite
  const auto chosen = hn::IfThenElse(hn::IsNaN(value), hn::BitCast(d, quiet), hn::BitCast(d, rounded));
  const auto upper = hn::BitCast(signed_bits, hn::ShiftRight<16>(hn::BitCast(unsigned_bits, chosen)));
  hn::StoreU(hn::DemoteTo(narrow, upper), narrow, &to->bits);
}

template <class D>
HWY_INLINE void store_f32(hn::Vec<D> value, D d, F16* to) {
#if AEROGEL_F16_INSTRUCTIONS
  const hn::Rebind<hwy::float16_t, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, value), narrow, reinterpret_cast<hwy::float16_t*>(to));
#else
  HWY_ALIGN float values[hn::MaxLanes(D())];
  hn::Store(value, d, values);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] = round_to<F16>(values[i]);
#endif
}

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#undef AEROGEL_F16_INSTRUCTIONS

#endif  // per-target include guard
