// Checks that several verbs share. Each throws InvalidArgument in the form
// `[op] name expected …, got …`.
#pragma once

#include <string_view>

#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// f32 and of this shape; −1 stands for any extent.
void check_f32(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape);

/// f32 and of this shape, or undefined.
void check_optional_f32(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape);

/// Features [N, C] on N sites.
void check_sparse(std::string_view op, const SparseTensor& tensor);

/// Data-dependent ops cannot be sized without running.
void refuse_dry_run(std::string_view op, const ExecOptions& exec);

}  // namespace aerogel
