#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/sparse_tensor.h"

#include "sparse/key_packing.h"
#include "sparse/lexicographic.h"
#include "sparse/sort_rows.h"

namespace aerogel {

struct Coordinates::Impl {
  Tensor indices;  // [N, 1+ndim] i32
  Dims spatial_shape;
  Dims tensor_stride;
  std::int64_t batch_size = 0;
  std::uint64_t id = 0;
  std::vector<std::int32_t> order;  // [N] or empty when sorted
  std::shared_ptr<void> maps;
};

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> counter{0};
  return ++counter;
}

std::string row_text(const std::int32_t* row, int width) {
  std::string text = "(";
  for (int i = 0; i < width; ++i) text += fmt::format("{}{}", i ? ", " : "", row[i]);
  return text + ")";
}

void check_shapes(const Tensor& indices, const Dims& spatial_shape, std::int64_t batch_size) {
  const int ndim = spatial_shape.size();
  if (ndim < 1 || ndim > kMaxNdim) {
    throw InvalidArgument(fmt::format("[coordinates] spatial_shape must have 1 to {} extents, got {}",
                                      kMaxNdim, spatial_shape.str()));
  }
  for (std::int64_t extent : spatial_shape) {
    if (extent < 1 || extent > std::numeric_limits<std::int32_t>::max()) {
      throw InvalidArgument(
          fmt::format("[coordinates] extents must be 1 to 2147483647, got {}", spatial_shape.str()));
    }
  }
  if (batch_size < 0 || batch_size > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(
        fmt::format("[coordinates] batch_size must be 0 to 2147483647, got {}", batch_size));
  }
  std::int64_t cells = std::max<std::int64_t>(batch_size, 1);
  for (std::int64_t extent : spatial_shape) {
    if (__builtin_mul_overflow(cells, extent, &cells)) {
      throw InvalidArgument(
          fmt::format("[coordinates] batch size {} and spatial shape {} span more than 2^63 - 1 cells",
                      batch_size, spatial_shape.str()));
    }
  }
  if (!indices.defined() || indices.dtype() != DType::kI32 || indices.shape().size() != 2 ||
      indices.size(1) != 1 + ndim) {
    throw InvalidArgument(
        fmt::format("[coordinates] indices must be i32 [N, {}] (batch and {} spatial columns), got {}",
                    1 + ndim, ndim, indices.str()));
  }
  if (indices.size(0) > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(fmt::format("[coordinates] at most 2147483647 rows, got {}", indices.size(0)));
  }
}

void check_ranges(const std::int32_t* rows, std::int64_t n, const Dims& spatial_shape,
                  std::int64_t batch_size) {
  const int width = 1 + spatial_shape.size();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t* row = rows + i * width;
    bool inside = row[0] >= 0 && row[0] < batch_size;
    for (int axis = 0; axis + 1 < width; ++axis) {
      inside = inside && row[1 + axis] >= 0 && row[1 + axis] < spatial_shape[axis];
    }
    if (!inside) {
      throw InvalidArgument(
          fmt::format("[coordinates] row {} is {} but the batch size is {} and the spatial shape {}", i,
                      row_text(row, width), batch_size, spatial_shape.str()));
    }
  }
}

}  // namespace

Coordinates Coordinates::create(const Tensor& indices, const Dims& spatial_shape, std::int64_t batch_size) {
  check_shapes(indices, spatial_shape, batch_size);
  Coordinates result;
  result.impl_ = std::make_shared<Impl>();
  Impl& impl = *result.impl_;
  impl.indices = indices.clone();  // immutable: the caller may go on writing to its own array
  impl.spatial_shape = spatial_shape;
  impl.tensor_stride = Dims::filled(spatial_shape.size(), 1);
  impl.batch_size = batch_size;
  impl.id = next_id();
  const auto* rows = impl.indices.data<std::int32_t>();
  const std::int64_t n = impl.indices.size(0);
  const int width = 1 + spatial_shape.size();
  check_ranges(rows, n, spatial_shape, batch_size);

  impl.order = sorted_order_of_rows(rows, n, batch_size, spatial_shape);
  for (std::int64_t i = 1; i < n; ++i) {
    const std::int64_t a = impl.order.empty() ? i - 1 : impl.order[static_cast<std::size_t>(i - 1)];
    const std::int64_t b = impl.order.empty() ? i : impl.order[static_cast<std::size_t>(i)];
    if (compare_rows(rows + a * width, rows + b * width, width) == 0) {
      throw InvalidArgument(fmt::format("[coordinates] rows {} and {} are both {}", std::min(a, b),
                                        std::max(a, b), row_text(rows + a * width, width)));
    }
  }
  return result;
}

Coordinates Coordinates::adopt_sorted(const Tensor& indices, const Dims& spatial_shape,
                                      std::int64_t batch_size, const Dims& tensor_stride) {
  check_shapes(indices, spatial_shape, batch_size);
  Coordinates result;
  result.impl_ = std::make_shared<Impl>();
  result.impl_->indices = indices.contiguous();
  result.impl_->spatial_shape = spatial_shape;
  result.impl_->tensor_stride = tensor_stride;
  result.impl_->batch_size = batch_size;
  result.impl_->id = next_id();
  return result;
}

std::int64_t Coordinates::size() const noexcept { return impl_ ? impl_->indices.size(0) : 0; }
int Coordinates::ndim() const noexcept { return impl_ ? impl_->spatial_shape.size() : 0; }
std::int64_t Coordinates::batch_size() const noexcept { return impl_ ? impl_->batch_size : 0; }
const Dims& Coordinates::spatial_shape() const noexcept { return impl_->spatial_shape; }
const Dims& Coordinates::tensor_stride() const noexcept { return impl_->tensor_stride; }
const Tensor& Coordinates::indices() const noexcept { return impl_->indices; }
const std::int32_t* Coordinates::row(std::int64_t site) const noexcept {
  return static_cast<const std::int32_t*>(impl_->indices.raw()) + site * (1 + ndim());
}
std::span<const std::int32_t> Coordinates::sorted_order() const noexcept { return impl_->order; }
std::uint64_t Coordinates::id() const noexcept { return impl_ ? impl_->id : 0; }
std::shared_ptr<void>& Coordinates::map_slot() const noexcept { return impl_->maps; }

}  // namespace aerogel
