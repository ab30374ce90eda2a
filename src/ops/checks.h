// Checks that several verbs share. Each throws InvalidArgument in the form
// `[op] name expected …, got …`.
#pragma once

#include <string_view>

#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// f32 and of this shape; −1 stands for any extent.
void check_f32(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape);

/// This dtype and of this shape.
void check_dtype(std::string_view op, std::string_view name, const Tensor& tensor, DType dtype,
                 const Dims& shape);

/// f32, f16 or bf16 and of this shape.
void check_features(std::string_view op, std::string_view name, const Tensor& tensor, const Dims& shape);

/// One number per channel, f32 or of the features' dtype, as contiguous f32; undefined stays undefined.
Tensor per_channel(std::string_view op, std::string_view name, const Tensor& tensor, DType features,
                   std::int64_t channels);

/// Features [N, C] on N sites.
void check_sparse(std::string_view op, const SparseTensor& tensor);

/// Data-dependent ops cannot be sized without running.
void refuse_dry_run(std::string_view op, const ExecOptions& exec);

}  // namespace aerogel
