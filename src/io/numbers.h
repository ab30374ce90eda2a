// Numbers in files: bytes of either order, decimal text, array sizes that may not overflow.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "aerogel/types.h"

namespace aerogel::io {

/// The value of type T at `bytes`, which needs no alignment.
template <class T>
T load(const char* bytes, std::endian order) {
  char copy[sizeof(T)];
  std::memcpy(copy, bytes, sizeof(T));
  if (order != std::endian::native) std::reverse(copy, copy + sizeof(T));
  T value;
  std::memcpy(&value, copy, sizeof(T));
  return value;
}

/// out[i] = the `dtype` at first + i · stride. Integers past 2^53 are rounded.
void decode_column(const char* first, std::size_t stride, DType dtype, std::endian order,
                   std::span<double> out);

/// The `dtype` at first + i · stride = in[i], the inverse of decode_column. Every value must fit: see
/// fits_dtype. kF16 and kBF16 are not written.
void encode_column(std::span<const double> in, char* first, std::size_t stride, DType dtype,
                   std::endian order);

/// Whether `dtype` holds `value` exactly; any float type holds NaN.
bool fits_dtype(double value, DType dtype);

/// Reverses the bytes of each of `count` items.
void swap_bytes(char* data, std::size_t itemsize, std::size_t count);

/// Makes every byte 0 or 1: a C++ bool must hold nothing else.
void normalize_bools(std::uint8_t* data, std::size_t count);

/// Bytes of a packed array, or -1 where they, or the count without the zero extents, leave 63 bits.
std::int64_t array_bytes(const Dims& shape, DType dtype);

/// The next word of `text`, which is shortened by it; words are parted by spaces, tabs and carriage returns.
std::string_view next_word(std::string_view& text);

/// A decimal number, nan or inf. False for anything else and for numbers outside f64.
bool parse_number(std::string_view word, double& value);

/// Digits only, at most 2^63 - 1.
bool parse_count(std::string_view word, std::uint64_t& value);

/// The beginning of `found` for a message: quoted, printable, at most `shown` long; "nothing" when empty.
std::string excerpt(std::string_view found, std::size_t shown = 40);

}  // namespace aerogel::io
