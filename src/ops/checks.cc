#include "ops/checks.h"

#include <string>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "core/feature_types.h"

namespace aerogel {
namespace {

bool has_shape(const Tensor& tensor, const Dims& shape) {
  bool fits = tensor.defined() && tensor.shape().size() == shape.size();
  for (int axis = 0; fits && axis < shape.size(); ++axis)
    fits = shape[axis] < 0 || shape[axis] == tensor.size(axis);
  return fits;
}

[[noreturn]] void refuse(std::string_view op, std::string_view name, std::string_view dtypes,
                         const Dims& shape, const Tensor& got) {
  std::string expected = shape.str();
  for (std::size_t at; (at = expected.find("-1")) != std::string::npos;) expected.replace(at, 2, "any");
  throw InvalidArgument(fmt::format("[{}] {} must be {} {}, got {}", op, name, dtypes, expected, got.str()));
}

}  // namespace

void check_dtype(std::string_view op, std::string_view name, const Tensor& tensor, DType dtype,
                 const Dims& shape) {
  if (!has_shape(tensor, shape) || tensor.dtype() != dtype)
    refuse(op, name, dtype_name(dtype), shape, tensor);
}

void check_f32(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape) {
  check_dtype(op, name, tensor, DType::kF32, shape);
}

void check_features(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape) {
  if (!has_shape(tensor, shape) || !is_feature_dtype(tensor.dtype()))
    refuse(op, name, "f32, f16 or bf16", shape, tensor);
}

Tensor per_channel(std::string_view op, std::string_view name, const Tensor& tensor, DType features,
                   std::int64_t channels) {
  if (!tensor.defined()) return {};
  if (!has_shape(tensor, {channels}) || (tensor.dtype() != DType::kF32 && tensor.dtype() != features)) {
    const std::string other = features == DType::kF32 ? "" : fmt::format(" or {}", dtype_name(features));
    refuse(op, name, "f32" + other, {channels}, tensor);
  }
  return tensor.to(DType::kF32);
}

void check_sparse(std::string_view op, const SparseTensor& tensor) {
  if (!tensor.coordinates.defined())
    throw InvalidArgument(fmt::format("[{}] the input has no coordinates", op));
  check_features(op, "features", tensor.features, {tensor.coordinates.size(), -1});
}

void refuse_dry_run(std::string_view op, const ExecOptions& exec) {
  if (exec.dry_run) {
    throw InvalidArgument(
        fmt::format("[{}] the result's size depends on the data, so a dry run cannot size it", op));
  }
}

}  // namespace aerogel
