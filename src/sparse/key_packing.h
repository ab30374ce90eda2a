// Coordinate rows packed into one 64-bit key that sorts as the row does, where the extents allow it.
#pragma once

#include <bit>
#include <cstdint>

#include "aerogel/types.h"

namespace aerogel {

/// Bit fields, batch highest. `margin` cells are kept free on both sides of every axis, so that a key moved
/// by less than the margin never carries into the next field.
class KeyPacking {
 public:
  KeyPacking(std::int64_t batch_size, const Dims& spatial_shape, const Dims& margin = {})
      : width_(1 + spatial_shape.size()) {
    int used = 0;
    for (int column = width_ - 1; column >= 0; --column) {
      const std::int64_t free = column > 0 && !margin.empty() ? margin[column - 1] : 0;
      const std::int64_t extent = column > 0 ? spatial_shape[column - 1] : batch_size;
      margin_[column] = free;
      shift_[column] = used;
      used += static_cast<int>(
          std::bit_width(static_cast<std::uint64_t>(extent + 2 * free > 0 ? extent + 2 * free - 1 : 0)));
      if (used > 63) fits_ = false;
      if (!fits_) used = 0;  // keep the shifts legal; the packing is not used
    }
    bits_ = used;
  }

  bool fits() const { return fits_; }  // in 63 bits
  int bits() const { return bits_; }
  int shift(int column) const { return shift_[column]; }

  std::uint64_t pack(const std::int32_t* row) const {
    std::uint64_t key = 0;
    for (int column = 0; column < width_; ++column) {
      key |= static_cast<std::uint64_t>(row[column] + margin_[column]) << shift_[column];
    }
    return key;
  }

  /// What to add to a key to move it by `delta` cells along the spatial axes; wraps, as it should.
  std::uint64_t step(const std::int64_t* delta) const {
    std::uint64_t step = 0;
    for (int axis = 0; axis + 1 < width_; ++axis)
      step += static_cast<std::uint64_t>(delta[axis]) << shift_[axis + 1];
    return step;
  }

  void unpack(std::uint64_t key, std::int32_t* row) const {
    for (int column = width_ - 1; column >= 0; --column) {
      const int top = column > 0 ? shift_[column - 1] : 64;
      const std::uint64_t field =
          top - shift_[column] >= 64
              ? key
              : (key >> shift_[column]) & ((std::uint64_t{1} << (top - shift_[column])) - 1);
      row[column] = static_cast<std::int32_t>(static_cast<std::int64_t>(field) - margin_[column]);
    }
  }

 private:
  int width_;
  int bits_ = 0;
  bool fits_ = true;
  int shift_[1 + kMaxNdim] = {};
  std::int64_t margin_[1 + kMaxNdim] = {};
};

}  // namespace aerogel
