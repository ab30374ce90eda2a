// The convolution and linear rows of the cpu backend, listed by kernels.cc.
#pragma once

#include "backend/kernel.h"

namespace aerogel::cpu {

extern const Kernel<SparseConvArgs> kSparseConvImplicitGemm;  // cpu/sparse_conv/implicit_gemm/f32
extern const Kernel<SparseConvArgs> kSparseConvDepthwise;     // cpu/sparse_conv/depthwise/f32
extern const Kernel<SparseConvArgs> kLinearDepthwise;         // cpu/linear/depthwise/f32
extern const Kernel<SparseConvArgs> kLinearPackedGemm;        // cpu/linear/packed_gemm/f32

}  // namespace aerogel::cpu
