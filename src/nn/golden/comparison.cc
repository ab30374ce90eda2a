#include "nn/golden/comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace aerogel::nn::golden {

bool Comparison::same_shape(std::string_view name, const Tensor& got, const Tensor& expected) {
  if (got.shape() == expected.shape()) return true;
  failures_.push_back(fmt::format("{}: expected {}, got {}", name, expected.str(), got.str()));
  return false;
}

void Comparison::integers(std::string_view name, const Tensor& got, const Tensor& expected) {
  if (!same_shape(name, got, expected)) return;
  const Tensor ours = got.to(DType::kI64);
  const Tensor theirs = expected.to(DType::kI64);
  const std::int64_t* a = ours.data<std::int64_t>();
  const std::int64_t* b = theirs.data<std::int64_t>();
  std::int64_t differing = 0;
  std::int64_t first = -1;
  for (std::int64_t i = 0; i < ours.numel(); ++i) {
    if (a[i] == b[i]) continue;
    if (differing++ == 0) first = i;
  }
  const auto count = static_cast<double>(differing);
  measures_.push_back({std::string(name), "exact", count, count, 0});
  if (differing > 0) {
    failures_.push_back(fmt::format("{}: {} of {} integers differ, first at element {}: expected {}, got {}",
                                    name, differing, ours.numel(), first, b[first], a[first]));
  }
}

void Comparison::floats(std::string_view name, const Tensor& got, const Tensor& expected,
                        std::optional<double> atol) {
  if (!same_shape(name, got, expected)) return;
  const Tensor ours = got.to(DType::kF64);
  const Tensor theirs = expected.to(DType::kF64);
  const double* a = ours.data<double>();
  const double* b = theirs.data<double>();
  double max_abs = 0;
  double error_squared = 0;
  double norm_squared = 0;
  std::int64_t worst = 0;
  for (std::int64_t i = 0; i < ours.numel(); ++i) {
    const double error = a[i] == b[i] ? 0 : std::abs(a[i] - b[i]);  // equal infinities are equal
    if (!(error <= max_abs)) {                                      // a NaN is worse than any number
      max_abs = error;
      worst = i;
      if (std::isnan(error)) break;
    }
    error_squared += error * error;
    norm_squared += b[i] * b[i];
  }
  Measure measure{std::string(name), "atol", max_abs, max_abs, atol.value_or(0)};
  if (!atol) {
    measure.rule = "relative L2";
    measure.error = norm_squared > 0 ? std::sqrt(error_squared / norm_squared) : std::sqrt(error_squared);
    if (std::isnan(max_abs)) measure.error = max_abs;
    measure.bound = 1e-5;
  }
  measures_.push_back(measure);
  if (!(measure.error <= measure.bound)) {
    failures_.push_back(
        fmt::format("{}: {} error {:.3g} exceeds {:.3g}; worst at element {}: expected {}, got {}", name,
                    measure.rule == "atol" ? "absolute" : "relative L2", measure.error, measure.bound, worst,
                    b[worst], a[worst]));
  }
}

void Comparison::shape(std::string_view name, const Dims& got, const Dims& expected) {
  if (!(got == expected))
    failures_.push_back(fmt::format("{}: expected {}, got {}", name, expected.str(), got.str()));
}

void Comparison::text(std::string_view name, const std::string& got, const std::string& expected) {
  if (got != expected) failures_.push_back(fmt::format("{}: expected {}, got {}", name, expected, got));
}

SortedRows sorted_rows(const SparseTensor& tensor) {
  const auto order = tensor.coordinates.sorted_order();
  if (order.empty()) return {tensor.coordinates.indices(), tensor.features};
  const std::int64_t columns = 1 + tensor.coordinates.ndim();
  const std::int64_t channels = tensor.channels();
  const Tensor given = tensor.features.contiguous();
  SortedRows rows{Tensor::empty({tensor.sites(), columns}, DType::kI32),
                  Tensor::empty(given.shape(), DType::kF32)};
  for (std::int64_t i = 0; i < tensor.sites(); ++i) {
    std::copy_n(tensor.coordinates.row(order[i]), columns,
                rows.indices.mutable_data<std::int32_t>() + i * columns);
    std::copy_n(given.data<float>() + order[i] * channels, channels,
                rows.features.mutable_data<float>() + i * channels);
  }
  return rows;
}

}  // namespace aerogel::nn::golden
