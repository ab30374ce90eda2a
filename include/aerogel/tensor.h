// A dense array: dtype, shape, element strides and shared storage. Copying a Tensor shares its data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aerogel/device.h"
#include "aerogel/types.h"

namespace aerogel {

/// A strided view of shared storage on the host. Cheap to copy; `clone` copies the data.
class Tensor {
 public:
  Tensor() = default;  ///< undefined: defined() is false

  /// Uninitialised, contiguous (last axis fastest). Throws OutOfMemory, InvalidArgument (negative extent,
  /// overflow). With exec.dry_run the tensor has a shape but no data; exec.meter counts its bytes while it
  /// lives.
  static Tensor empty(const Dims& shape, DType dtype, const ExecOptions& exec = {});
  static Tensor zeros(const Dims& shape, DType dtype, const ExecOptions& exec = {});

  /// A view of memory that somebody else owns; `owner` is kept alive, `data` must stay valid as long.
  static Tensor wrap(void* data, const Dims& shape, DType dtype, std::shared_ptr<const void> owner = nullptr);

  /// Copies host values: `Tensor::from<float>({2, 3}, values)`. InvalidArgument if the counts differ.
  template <class T>
  static Tensor from(const Dims& shape, std::span<const T> values) {
    return copy_of(shape, dtype_of<T>, values.data(), static_cast<std::int64_t>(values.size()));
  }
  template <class T>
  static Tensor from(const Dims& shape, const std::vector<T>& values) {
    return from<T>(shape, std::span<const T>(values));
  }

  bool defined() const noexcept { return shape_.size() > 0 || storage_ != nullptr; }
  bool has_data() const noexcept { return data_ != nullptr || numel() == 0; }
  DType dtype() const noexcept { return dtype_; }
  const Dims& shape() const noexcept { return shape_; }
  std::int64_t size(int axis) const noexcept { return shape_[axis]; }
  const Dims& strides() const noexcept { return strides_; }  ///< in elements
  std::int64_t numel() const noexcept;
  std::int64_t nbytes() const noexcept;
  bool is_contiguous() const noexcept;

  /// The elements, checked against the dtype (InvalidArgument).
  template <class T>
  const T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_data() const {
    check_dtype(dtype_of<T>);
    return static_cast<T*>(data_);
  }
  void* raw() const noexcept { return data_; }

  Tensor reshape(const Dims& shape) const;          ///< same data; needs contiguity and an equal count
  Tensor permute(std::span<const int> axes) const;  ///< a view
  Tensor slice_rows(std::int64_t begin, std::int64_t end) const;  ///< a view of rows [begin, end) of axis 0
  Tensor contiguous() const;                                      ///< itself, or a packed copy
  Tensor clone() const;                                           ///< a packed copy

  /// A converted packed copy, or itself. Integers convert exactly, floats round to nearest; a float's
  /// fraction is cut off on the way to an integer; bool is whether the element is not 0. InvalidArgument
  /// naming the first element that an integer dtype cannot hold: past its range, or NaN.
  Tensor to(DType dtype) const;

  /// "f32 [1024, 64]"
  std::string str() const;

 private:
  static Tensor copy_of(const Dims& shape, DType dtype, const void* values, std::int64_t count);
  void check_dtype(DType asked) const;

  std::shared_ptr<const void> storage_;
  void* data_ = nullptr;
  Dims shape_;
  Dims strides_;
  DType dtype_ = DType::kF32;
};

}  // namespace aerogel
