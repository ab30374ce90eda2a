// The convolution and linear rows of the cpu backend, listed by kernels.cc.
#pragma once

#include <string>

#include "backend/kernel.h"

namespace aerogel::cpu {

/// Empty if the problem's features are of this dtype, else what a row says that takes no other.
inline std::string takes_dtype(const ConvProblem& problem, DType dtype) {
  if (problem.dtype == dtype) return {};
  return "takes " + std::string(dtype_name(dtype)) + ", not " + std::string(dtype_name(problem.dtype));
}

extern const Kernel<SparseConvArgs> kSparseConvImplicitGemm;  // cpu/sparse_conv/implicit_gemm/f32
extern const Kernel<SparseConvArgs> kSparseConvDepthwise;     // cpu/sparse_conv/depthwise/float
extern const Kernel<SparseConvArgs> kLinearDepthwise;         // cpu/linear/depthwise/float
extern const Kernel<SparseConvArgs> kSparseConvImplicitGemmF16;
extern const Kernel<SparseConvArgs> kSparseConvImplicitGemmBf16;
extern const Kernel<SparseConvArgs> kSparseConvImplicitGemmI8;
extern const Kernel<SparseConvArgs> kLinearPackedGemmI8;
extern const Kernel<SparseConvArgs> kLinearPackedGemmF16;
extern const Kernel<SparseConvArgs> kLinearPackedGemmBf16;
extern const Kernel<SparseConvArgs> kLinearPackedGemm;  // cpu/linear/packed_gemm/f32

}  // namespace aerogel::cpu
