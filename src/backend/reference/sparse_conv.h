// The judge of convolutions and linear layers, in double.
#pragma once

#include <cstdint>
#include <span>

#include "backend/kernel.h"

namespace aerogel::reference {

/// Computes chosen output rows in double.
///
///   args     a convolution, or a linear layer (map == nullptr); args.out is not touched
///   rows     [R]           output rows
///   out      [R, C_out]    epilogue(Σ terms)
///   abs_sum  [R, C_out]    Σ|terms| through the same epilogue: the yardstick of a rounding error
void sparse_conv_rows(const SparseConvArgs& args, std::span<const std::int64_t> rows, double* out,
                      double* abs_sum);

}  // namespace aerogel::reference
