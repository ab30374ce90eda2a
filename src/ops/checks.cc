#include "ops/checks.h"

#include <fmt/core.h>

#include "aerogel/error.h"

namespace aerogel {

void check_f32(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape) {
  bool fits = tensor.defined() && tensor.dtype() == DType::kF32 && tensor.shape().size() == shape.size();
  for (int axis = 0; fits && axis < shape.size(); ++axis)
    fits = shape[axis] < 0 || shape[axis] == tensor.size(axis);
  if (!fits) {
    std::string expected = shape.str();
    for (std::size_t at; (at = expected.find("-1")) != std::string::npos;) expected.replace(at, 2, "any");
    throw InvalidArgument(fmt::format("[{}] {} must be f32 {}, got {}", op, name, expected, tensor.str()));
  }
}

void check_optional_f32(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape) {
  if (tensor.defined()) check_f32(op, name, tensor, shape);
}

void check_sparse(std::string_view op, const SparseTensor& tensor) {
  if (!tensor.coordinates.defined())
    throw InvalidArgument(fmt::format("[{}] the input has no coordinates", op));
  check_f32(op, "features", tensor.features, {tensor.coordinates.size(), -1});
}

void refuse_dry_run(std::string_view op, const ExecOptions& exec) {
  if (exec.dry_run) {
    throw InvalidArgument(
        fmt::format("[{}] the result's size depends on the data, so a dry run cannot size it", op));
  }
}

}  // namespace aerogel
