// Scratch memory whose size follows the data: counted by a meter before it is allocated, refused with
// numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "aerogel/device.h"
#include "aerogel/error.h"

namespace aerogel::cpu {

/// Bytes held by a map builder, until this dies. `meter` may be null.
class CountedBytes {
 public:
  CountedBytes() = default;
  explicit CountedBytes(MemoryMeter* meter, std::int64_t bytes = 0) : meter_(meter) { add(bytes); }
  CountedBytes(CountedBytes&& other) noexcept
      : meter_(other.meter_), bytes_(std::exchange(other.bytes_, 0)) {}
  CountedBytes& operator=(CountedBytes&& other) noexcept {
    std::swap(meter_, other.meter_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CountedBytes() {
    if (meter_ != nullptr) meter_->remove(bytes_, MemoryUse::kMapBuilding);
  }

  /// OutOfMemory if the meter has a limit that is in the way.
  void add(std::int64_t bytes) {
    if (meter_ != nullptr) meter_->add(bytes, MemoryUse::kMapBuilding);
    bytes_ += bytes;
  }

 private:
  MemoryMeter* meter_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// An uninitialised array of a trivial T: std::vector would clear it first.
template <class T>
class Array {
 public:
  Array() = default;
  /// OutOfMemory with the bytes asked for, from the meter or from the system.
  Array(std::int64_t count, MemoryMeter* meter)
      : counted_(meter, count * static_cast<std::int64_t>(sizeof(T))),
        data_(new (std::nothrow) T[static_cast<std::size_t>(count)]) {
    if (!data_) throw OutOfMemory(count * static_cast<std::int64_t>(sizeof(T)), -1, "cpu");
  }

  T* get() const noexcept { return data_.get(); }
  T& operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }

 private:
  CountedBytes counted_;
  std::unique_ptr<T[]> data_;
};

}  // namespace aerogel::cpu
