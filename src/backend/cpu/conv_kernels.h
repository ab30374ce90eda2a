// The convolution and linear rows of the cpu backend, listed by kernels.cc.
#pragma once

#include <string>

#include "backend/kernel.h"

namespace aerogel::cpu {

/// Empty for f32, else why not.
inline std::string takes_f32(const SparseConvArgs& args) {
  if (args.problem.dtype == DType::kF32) return {};
  return "takes f32, not " + std::string(dtype_name(args.problem.dtype));
}

extern const Kernel<SparseConvArgs> kSparseConvImplicitGemm;  // cpu/sparse_conv/implicit_gemm/f32
extern const Kernel<SparseConvArgs> kSparseConvDepthwise;     // cpu/sparse_conv/depthwise/f32
extern const Kernel<SparseConvArgs> kLinearDepthwise;         // cpu/linear/depthwise/f32
extern const Kernel<SparseConvArgs> kLinearPackedGemm;        // cpu/linear/packed_gemm/f32

}  // namespace aerogel::cpu
