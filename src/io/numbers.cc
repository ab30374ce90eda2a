#include "io/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/half.h"

namespace aerogel::io {
namespace {

template <class T>
void decode_as(const char* first, std::size_t stride, std::endian order, std::span<double> out) {
  for (double& value : out) {
    value = static_cast<double>(load<T>(first, order));
    first += stride;
  }
}

template <class Widen>
void decode_half(const char* first, std::size_t stride, std::endian order, std::span<double> out,
                 Widen widen) {
  for (double& value : out) {
    value = static_cast<double>(widen(load<std::uint16_t>(first, order)));
    first += stride;
  }
}

template <class T>
void encode_as(std::span<const double> in, char* first, std::size_t stride, std::endian order) {
  for (const double value : in) {
    const T stored = static_cast<T>(value);
    std::memcpy(first, &stored, sizeof(T));
    if (order != std::endian::native) std::reverse(first, first + sizeof(T));
    first += stride;
  }
}

/// The largest and smallest T are tested as powers of two, which a double holds.
template <class T>
bool fits_integer(double value) {
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double least = std::is_signed_v<T> ? -above : 0.0;
  return value >= least && value < above && value == std::floor(value);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

void decode_column(const char* first, std::size_t stride, DType dtype, std::endian order,
                   std::span<double> out) {
  switch (dtype) {
    case DType::kF32:
      return decode_as<float>(first, stride, order, out);
    case DType::kF64:
      return decode_as<double>(first, stride, order, out);
    case DType::kF16:
      return decode_half(first, stride, order, out, f16_to_f32);
    case DType::kBF16:
      return decode_half(first, stride, order, out, bf16_to_f32);
    case DType::kI8:
      return decode_as<std::int8_t>(first, stride, order, out);
    case DType::kBool:
    case DType::kU8:
      return decode_as<std::uint8_t>(first, stride, order, out);
    case DType::kI16:
      return decode_as<std::int16_t>(first, stride, order, out);
    case DType::kU16:
      return decode_as<std::uint16_t>(first, stride, order, out);
    case DType::kI32:
      return decode_as<std::int32_t>(first, stride, order, out);
    case DType::kU32:
      return decode_as<std::uint32_t>(first, stride, order, out);
    case DType::kI64:
      return decode_as<std::int64_t>(first, stride, order, out);
    case DType::kU64:
      return decode_as<std::uint64_t>(first, stride, order, out);
  }
}

void encode_column(std::span<const double> in, char* first, std::size_t stride, DType dtype,
                   std::endian order) {
  switch (dtype) {
    case DType::kF32:
      return encode_as<float>(in, first, stride, order);
    case DType::kF64:
      return encode_as<double>(in, first, stride, order);
    case DType::kI8:
      return encode_as<std::int8_t>(in, first, stride, order);
    case DType::kBool:
    case DType::kU8:
      return encode_as<std::uint8_t>(in, first, stride, order);
    case DType::kI16:
      return encode_as<std::int16_t>(in, first, stride, order);
    case DType::kU16:
      return encode_as<std::uint16_t>(in, first, stride, order);
    case DType::kI32:
      return encode_as<std::int32_t>(in, first, stride, order);
    case DType::kU32:
      return encode_as<std::uint32_t>(in, first, stride, order);
    case DType::kI64:
      return encode_as<std::int64_t>(in, first, stride, order);
    case DType::kU64:
      return encode_as<std::uint64_t>(in, first, stride, order);
    case DType::kF16:
    case DType::kBF16:
      break;
  }
  throw std::logic_error("encode_column: no half types");
}

bool fits_dtype(double value, DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return true;
    case DType::kF32:
      // A finite value past the largest float has no defined conversion.
      return std::isnan(value) || std::isinf(value) ||
             (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
              static_cast<double>(static_cast<float>(value)) == value);
    case DType::kI8:
      return fits_integer<std::int8_t>(value);
    case DType::kU8:
      return fits_integer<std::uint8_t>(value);
    case DType::kI16:
      return fits_integer<std::int16_t>(value);
    case DType::kU16:
      return fits_integer<std::uint16_t>(value);
    case DType::kI32:
      return fits_integer<std::int32_t>(value);
    case DType::kU32:
      return fits_integer<std::uint32_t>(value);
    case DType::kI64:
      return fits_integer<std::int64_t>(value);
    case DType::kU64:
      return fits_integer<std::uint64_t>(value);
    case DType::kBool:
      return value == 0 || value == 1;
    case DType::kF16:
    case DType::kBF16:
      break;
  }
  return false;
}

void swap_bytes(char* data, std::size_t itemsize, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(data + i * itemsize, data + (i + 1) * itemsize);
}

void normalize_bools(std::uint8_t* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) data[i] = data[i] != 0;
}

std::int64_t array_bytes(const Dims& shape, DType dtype) {
  auto bytes = static_cast<std::int64_t>(itemsize(dtype));
  bool empty = false;
  for (std::int64_t extent : shape) {
    empty = empty || extent == 0;
    if (extent < 0 || __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes)) return -1;
  }
  return empty ? 0 : bytes;
}

std::string_view next_word(std::string_view& text) {
  std::size_t begin = 0;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  std::size_t end = begin;
  while (end < text.size() && !is_blank(text[end])) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

bool parse_number(std::string_view word, double& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);  // from_chars takes no plus
  const char* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stopped == end;
}

bool parse_count(std::string_view word, std::uint64_t& value) {
  const char* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stopped == end &&
         value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
}

std::string excerpt(std::string_view found, std::size_t shown) {
  if (found.empty()) return "nothing";
  std::string text = "\"";
  for (char c : found.substr(0, shown)) text += c >= ' ' && c <= '~' ? c : '?';
  text += found.size() > shown ? "…\"" : "\"";
  return text;
}

}  // namespace aerogel::io
