#include "aerogel/tensor.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "core/element.h"

namespace aerogel {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

/// Owned bytes; counted by a meter while alive. `data` is null in a dry run.
struct Storage {
  void* data = nullptr;
  std::int64_t bytes = 0;
  std::shared_ptr<MemoryMeter> meter;

  Storage(std::int64_t size, bool allocate, std::shared_ptr<MemoryMeter> counted_by)
      : bytes(size), meter(std::move(counted_by)) {
    if (meter) meter->add(bytes);
    if (allocate) {
      const std::size_t padded = (static_cast<std::size_t>(size) + kAlignment - 1) / kAlignment * kAlignment;
      data = std::aligned_alloc(kAlignment, padded ? padded : kAlignment);
      if (data == nullptr) {
        if (meter) meter->remove(bytes);
        throw OutOfMemory(size, -1, "cpu");
      }
    }
  }
  ~Storage() {
    if (meter) meter->remove(bytes);
    std::free(data);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
};

Dims packed_strides(const Dims& shape) {
  Dims strides = shape;
  std::int64_t step = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

std::int64_t checked_bytes(const Dims& shape, DType dtype) {
  for (std::int64_t extent : shape) {
    if (extent < 0)
      throw InvalidArgument(fmt::format("[tensor] extents must be at least 0, got {}", shape.str()));
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.product(), static_cast<std::int64_t>(itemsize(dtype)), &bytes)) {
    throw InvalidArgument(
        fmt::format("[tensor] {} {} leaves 63 bits of bytes", dtype_name(dtype), shape.str()));
  }
  return bytes;
}

/// Calls visit(element offset) for every element in row-major order.
template <class Visit>
void for_each_offset(const Dims& shape, const Dims& strides, Visit&& visit) {
  if (shape.product() == 0) return;
  Dims index = Dims::filled(shape.size(), 0);
  std::int64_t offset = 0;
  for (;;) {
    visit(offset);
    int axis = shape.size() - 1;
    for (; axis >= 0; --axis) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace

Tensor Tensor::empty(const Dims& shape, DType dtype, const ExecOptions& exec) {
  const std::int64_t bytes = checked_bytes(shape, dtype);
  auto storage = std::make_shared<Storage>(bytes, !exec.dry_run, exec.meter);
  Tensor tensor = wrap(storage->data, shape, dtype, storage);
  return tensor;
}

Tensor Tensor::zeros(const Dims& shape, DType dtype, const ExecOptions& exec) {
  Tensor tensor = empty(shape, dtype, exec);
  if (tensor.data_ != nullptr) std::memset(tensor.data_, 0, static_cast<std::size_t>(tensor.nbytes()));
  return tensor;
}

Tensor Tensor::wrap(void* data, const Dims& shape, DType dtype, std::shared_ptr<const void> owner) {
  checked_bytes(shape, dtype);
  Tensor tensor;
  tensor.storage_ = std::move(owner);
  tensor.data_ = data;
  tensor.shape_ = shape;
  tensor.strides_ = packed_strides(shape);
  tensor.dtype_ = dtype;
  return tensor;
}

Tensor Tensor::copy_of(const Dims& shape, DType dtype, const void* values, std::int64_t count) {
  Tensor tensor = empty(shape, dtype);
  if (tensor.numel() != count) {
    throw InvalidArgument(fmt::format("[tensor] shape {} has {} elements but {} values came", shape.str(),
                                      tensor.numel(), count));
  }
  if (count > 0) std::memcpy(tensor.data_, values, static_cast<std::size_t>(tensor.nbytes()));
  return tensor;
}

std::int64_t Tensor::numel() const noexcept {
  if (!defined()) return 0;
  std::int64_t count = 1;
  for (std::int64_t extent : shape_) count *= extent;
  return count;
}

std::int64_t Tensor::nbytes() const noexcept { return numel() * static_cast<std::int64_t>(itemsize(dtype_)); }

bool Tensor::is_contiguous() const noexcept { return numel() <= 1 || strides_ == packed_strides(shape_); }

void Tensor::check_dtype(DType asked) const {
  if (asked != dtype_) {
    throw InvalidArgument(
        fmt::format("[tensor] expected {} elements, the tensor is {}", dtype_name(asked), str()));
  }
  if (!has_data()) {
    throw InvalidArgument(fmt::format("[tensor] {} has a shape but no data: it comes from a dry run", str()));
  }
}

Tensor Tensor::reshape(const Dims& shape) const {
  checked_bytes(shape, dtype_);  // refuses negative extents
  if (shape.product() != numel()) {
    throw InvalidArgument(fmt::format("[reshape] {} has {} elements, {} needs {}", str(), numel(),
                                      shape.str(), shape.product()));
  }
  Tensor result = contiguous();
  result.shape_ = shape;
  result.strides_ = packed_strides(shape);
  return result;
}

Tensor Tensor::permute(std::span<const int> axes) const {
  bool seen[Dims::kCapacity] = {};
  bool valid = static_cast<int>(axes.size()) == shape_.size();
  for (int axis : axes) {
    valid = valid && axis >= 0 && axis < shape_.size() && !seen[axis];
    if (valid) seen[axis] = true;
  }
  if (!valid) throw InvalidArgument(fmt::format("[permute] not a permutation of the axes of {}", str()));
  Tensor result = *this;
  for (int i = 0; i < shape_.size(); ++i) {
    result.shape_[i] = shape_[axes[static_cast<std::size_t>(i)]];
    result.strides_[i] = strides_[axes[static_cast<std::size_t>(i)]];
  }
  return result;
}

Tensor Tensor::slice_rows(std::int64_t begin, std::int64_t end) const {
  if (shape_.empty() || begin < 0 || begin > end || end > shape_[0]) {
    throw InvalidArgument(fmt::format("[slice_rows] rows {} to {} of {}", begin, end, str()));
  }
  Tensor result = *this;
  result.shape_[0] = end - begin;
  if (data_ != nullptr) {
    result.data_ =
        static_cast<char*>(data_) + begin * strides_[0] * static_cast<std::int64_t>(itemsize(dtype_));
  }
  return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  if (!has_data()) return wrap(nullptr, shape_, dtype_, storage_);  // a dry run's: shape only, still counted
  Tensor result = empty(shape_, dtype_);
  if (numel() == 0) return result;
  if (is_contiguous()) {
    std::memcpy(result.data_, data_, static_cast<std::size_t>(nbytes()));
    return result;
  }
  const std::size_t size = itemsize(dtype_);
  auto* to = static_cast<char*>(result.data_);
  for_each_offset(shape_, strides_, [&](std::int64_t offset) {
    std::memcpy(to, static_cast<const char*>(data_) + offset * static_cast<std::int64_t>(size), size);
    to += size;
  });
  return result;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == dtype_) return contiguous();
  if (!has_data()) return wrap(nullptr, shape_, dtype, storage_);
  Tensor result = empty(shape_, dtype);
  std::int64_t i = 0;
  for_each_offset(shape_, strides_, [&](std::int64_t offset) {
    const bool stored = visit_element(
        data_, dtype_, offset, [&](auto value) { return store_element(result.data_, dtype, i, value); });
    if (!stored) {
      throw InvalidArgument(fmt::format("[to] element {} of {} is {}, which {} cannot hold", i, str(),
                                        element_str(data_, dtype_, offset), dtype_name(dtype)));
    }
    ++i;
  });
  return result;
}

std::string Tensor::str() const {
  return defined() ? fmt::format("{} {}", dtype_name(dtype_), shape_.str()) : "undefined";
}

}  // namespace aerogel
