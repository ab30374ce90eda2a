// One element of any dtype, read and stored by value. Scalar: for files, comparisons and tests, not for
// kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "aerogel/types.h"

#include "core/half.h"

namespace aerogel {

/// visit(value) with element `i` as a float, a double, or an integer of its own type: nothing is rounded.
template <class Visit>
decltype(auto) visit_element(const void* data, DType dtype, std::int64_t i, Visit&& visit) {
  switch (dtype) {
    case DType::kF32:
      return visit(static_cast<const float*>(data)[i]);
    case DType::kF64:
      return visit(static_cast<const double*>(data)[i]);
    case DType::kF16:
      return visit(f16_to_f32(static_cast<const std::uint16_t*>(data)[i]));
    case DType::kBF16:
      return visit(bf16_to_f32(static_cast<const std::uint16_t*>(data)[i]));
    case DType::kI8:
      return visit(static_cast<const std::int8_t*>(data)[i]);
    case DType::kI16:
      return visit(static_cast<const std::int16_t*>(data)[i]);
    case DType::kU16:
      return visit(static_cast<const std::uint16_t*>(data)[i]);
    case DType::kI32:
      return visit(static_cast<const std::int32_t*>(data)[i]);
    case DType::kU32:
      return visit(static_cast<const std::uint32_t*>(data)[i]);
    case DType::kI64:
      return visit(static_cast<const std::int64_t*>(data)[i]);
    case DType::kU64:
      return visit(static_cast<const std::uint64_t*>(data)[i]);
    case DType::kU8:
    case DType::kBool:
      break;
  }
  return visit(static_cast<const std::uint8_t*>(data)[i]);
}

/// Stores `value` as the integer To, a float's fraction cut off. False, with nothing stored, where it does
/// not fit: a NaN or a number past To's range.
template <class To, class Value>
bool store_integer(void* data, std::int64_t i, Value value) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_integral_v<Value>) {
    if (!std::in_range<To>(value)) return false;
  } else {
    const auto whole = static_cast<double>(std::trunc(value));
    // Both bounds are powers of two or 0, exact in double, unlike the largest 64-bit integers. A NaN fails.
    if (!(whole >= static_cast<double>(Limits::min()) && whole < std::ldexp(1.0, Limits::digits)))
      return false;
  }
  static_cast<To*>(data)[i] = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): i8 is a number
  return true;
}

/// Stores `value` as element `i`, rounded to nearest where a float is stored; integers as store_integer.
template <class Value>
bool store_element(void* data, DType dtype, std::int64_t i, Value value) {
  switch (dtype) {
    case DType::kF32:
      static_cast<float*>(data)[i] = static_cast<float>(value);
      return true;
    case DType::kF64:
      static_cast<double*>(data)[i] = static_cast<double>(value);
      return true;
    case DType::kF16:
      static_cast<std::uint16_t*>(data)[i] = f32_to_f16(static_cast<float>(value));
      return true;
    case DType::kBF16:
      static_cast<std::uint16_t*>(data)[i] = f32_to_bf16(static_cast<float>(value));
      return true;
    case DType::kBool:
      static_cast<std::uint8_t*>(data)[i] = value != Value{0};
      return true;
    case DType::kI8:
      return store_integer<std::int8_t>(data, i, value);
    case DType::kU8:
      return store_integer<std::uint8_t>(data, i, value);
    case DType::kI16:
      return store_integer<std::int16_t>(data, i, value);
    case DType::kU16:
      return store_integer<std::uint16_t>(data, i, value);
    case DType::kI32:
      return store_integer<std::int32_t>(data, i, value);
    case DType::kU32:
      return store_integer<std::uint32_t>(data, i, value);
    case DType::kI64:
      return store_integer<std::int64_t>(data, i, value);
    case DType::kU64:
      break;
  }
  return store_integer<std::uint64_t>(data, i, value);
}

/// Element `i` for people.
inline std::string element_str(const void* data, DType dtype, std::int64_t i) {
  return visit_element(data, dtype, i, [](auto value) { return fmt::format("{}", value); });
}

}  // namespace aerogel
