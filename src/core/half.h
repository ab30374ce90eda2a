// f16 and bf16 to f32 and back, round to nearest even. Scalar: kernels have vectors for it
// (backend/cpu/row_arithmetic-inl.h).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "aerogel/types.h"

namespace aerogel {

inline float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // quiet NaN
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 31u;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {  // zero or subnormal: mantissa · 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

inline std::uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // rounds to 65520 or more: infinity
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 puts the 2^-24 grid into the low mantissa bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

inline float to_f32(float value) { return value; }
inline float to_f32(F16 value) { return f16_to_f32(value.bits); }
inline float to_f32(BF16 value) { return bf16_to_f32(value.bits); }

/// `value` in T, rounded to nearest even once.
template <class T>
T round_to(float value) {
  if constexpr (std::is_same_v<T, F16>) return {f32_to_f16(value)};
  if constexpr (std::is_same_v<T, BF16>) return {f32_to_bf16(value)};
  if constexpr (std::is_same_v<T, float>) return value;
}

/// As above from double. A way through f32 rounds to odd there, so that the second rounding sees on which
/// side of its ties the value lies (Boldo & Melquiond 2008).
template <class T>
T round_to(double value) {
  auto narrow = static_cast<float>(value);
  if constexpr (!std::is_same_v<T, float>) {
    const auto bits = std::bit_cast<std::uint32_t>(narrow);
    if (value == value && static_cast<double>(narrow) != value && bits % 2 == 0) {
      const bool too_large = (static_cast<double>(narrow) > value) == (value > 0);
      narrow = std::bit_cast<float>(too_large ? bits - 1 : bits + 1);
    }
  }
  return round_to<T>(narrow);
}

}  // namespace aerogel
