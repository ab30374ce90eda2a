#include "aerogel/sparse_tensor.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "core/feature_types.h"
#include "sparse/lexicographic.h"
#include "sparse/sort_rows.h"

namespace aerogel {
namespace {

void check_features(const Tensor& features, std::int64_t rows) {
  const bool is_i8 = features.defined() && features.dtype() == DType::kI8;
  if (!features.defined() || !(is_i8 || is_feature_dtype(features.dtype())) || features.shape().size() != 2) {
    throw InvalidArgument(
        fmt::format("[sparse_tensor] features must be f32, f16, bf16 or i8 [N, C], got {}", features.str()));
  }
  if (features.size(0) != rows) {
    throw InvalidArgument(
        fmt::format("[sparse_tensor] features have {} rows but there are {} sites", features.size(0), rows));
  }
}

/// For each row, the first row equal to it.
std::vector<std::int64_t> first_equal_rows(const Tensor& indices, const Dims& spatial_shape,
                                           std::int64_t batch_size) {
  const auto* rows = indices.data<std::int32_t>();
  const std::int64_t n = indices.size(0);
  const auto width = static_cast<int>(indices.size(1));
  const std::vector<std::int32_t> order = sorted_order_of_rows(rows, n, batch_size, spatial_shape);
  std::vector<std::int64_t> first(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = [&](std::int64_t k) { return order.empty() ? k : order[static_cast<std::size_t>(k)]; };
    const std::int64_t row = at(i);
    const bool same = i > 0 && compare_rows(rows + at(i - 1) * width, rows + row * width, width) == 0;
    first[static_cast<std::size_t>(row)] = same ? first[static_cast<std::size_t>(at(i - 1))] : row;
  }
  return first;
}

}  // namespace

SparseTensor SparseTensor::create(const Tensor& features, const Tensor& indices, const Dims& spatial_shape,
                                  std::int64_t batch_size, Duplicates duplicates) {
  if (indices.defined() && !indices.shape().empty()) check_features(features, indices.size(0));
  if (duplicates == Duplicates::kError) {
    return {features.contiguous(), Coordinates::create(indices, spatial_shape, batch_size)};
  }
  if (features.dtype() == DType::kI8) {
    throw InvalidArgument(
        "[sparse_tensor] equal rows of i8 features cannot be joined: they have no scale here");
  }
  // The distinct rows first: their creation also checks every range, so that keys below are legal.
  const std::int64_t n = indices.size(0);
  const Tensor packed = indices.contiguous();
  const auto* rows = packed.data<std::int32_t>();
  for (std::int64_t i = 0; i < n; ++i) {  // ranges, by the check that names the row
    const std::int32_t* row = rows + i * indices.size(1);
    bool inside = row[0] >= 0 && row[0] < batch_size;
    for (int axis = 0; axis < spatial_shape.size(); ++axis) {
      inside = inside && row[1 + axis] >= 0 && row[1 + axis] < spatial_shape[axis];
    }
    if (!inside) return {features, Coordinates::create(packed, spatial_shape, batch_size)};  // throws
  }
  const std::vector<std::int64_t> first = first_equal_rows(packed, spatial_shape, batch_size);
  std::vector<std::int64_t> place(static_cast<std::size_t>(n));
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    place[at] = first[at] == i ? kept++ : place[static_cast<std::size_t>(first[at])];
  }
  const std::int64_t channels = features.size(1);
  const std::int64_t width = indices.size(1);
  const Tensor in = features.to(DType::kF32);  // rows are joined in f32
  Tensor joined = Tensor::empty({kept, channels}, DType::kF32);
  Tensor sites = Tensor::empty({kept, width}, DType::kI32);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(kept), 0);
  std::vector<double> sums;
  if (duplicates != Duplicates::kFirst) sums.assign(static_cast<std::size_t>(kept * channels), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t to = place[static_cast<std::size_t>(i)];
    const float* values = in.data<float>() + i * channels;
    const bool is_first = counts[static_cast<std::size_t>(to)]++ == 0;
    if (is_first) {
      std::copy_n(rows + i * width, width, sites.mutable_data<std::int32_t>() + to * width);
      std::copy_n(values, channels, joined.mutable_data<float>() + to * channels);
    }
    for (std::int64_t c = 0; c < channels && !sums.empty(); ++c) {
      double& sum = sums[static_cast<std::size_t>(to * channels + c)];
      if (duplicates == Duplicates::kMax) {
        sum = is_first || values[c] > sum || values[c] != values[c] ? values[c] : sum;
      } else {
        sum += values[c];
      }
    }
  }
  for (std::int64_t i = 0; i < kept * channels && !sums.empty(); ++i) {
    const double divisor = duplicates == Duplicates::kMean
                               ? static_cast<double>(counts[static_cast<std::size_t>(i / channels)])
                               : 1.0;
    joined.mutable_data<float>()[i] = static_cast<float>(sums[static_cast<std::size_t>(i)] / divisor);
  }
  return {joined.to(features.dtype()), Coordinates::create(sites, spatial_shape, batch_size)};
}

SparseTensor SparseTensor::with_features(const Tensor& other) const {
  check_features(other, coordinates.size());
  return {other, coordinates};
}

}  // namespace aerogel
