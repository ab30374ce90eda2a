// Pools over windows and over whole batch items. Absent sites do not take part; NaN propagates. Features are
// f32, f16 or bf16 and keep their dtype; sums are f32 (windows) or f64 (items), rounded once.
#pragma once

#include "aerogel/ops/convolution.h"

namespace aerogel {

/// Which sites a pool writes.
enum class PoolSites : std::uint8_t { kRegular, kSubmanifold };

/// Where a running maximum starts. kZero reproduces spconv, where an all-negative window gives 0.
enum class MaxIdentity : std::uint8_t { kNegativeInfinity, kZero };

/// Maximum over the active sites of each window.
///
///   in       features [N, C]
///   kernel   ndim                   window extents
///   options  stride, padding, dilation (regular); dilation only (submanifold)
///   returns  features [N_out, C]          N_out = N (submanifold) or the reachable sites, sorted
///   throws   InvalidArgument        geometry does not fit
///            Unsupported            no kernel of the backend
///   cost     pairs · C comparisons
SparseTensor max_pool(const SparseTensor& in, const Dims& kernel, const ConvOptions& options = {},
                      PoolSites sites = PoolSites::kRegular,
                      MaxIdentity identity = MaxIdentity::kNegativeInfinity, const ExecOptions& exec = {});

/// Mean over the active sites of each window (the divisor is their number). Arguments as max_pool.
SparseTensor avg_pool(const SparseTensor& in, const Dims& kernel, const ConvOptions& options = {},
                      PoolSites sites = PoolSites::kRegular, const ExecOptions& exec = {});

/// Sum over the active sites of each window. Arguments as max_pool.
SparseTensor sum_pool(const SparseTensor& in, const Dims& kernel, const ConvOptions& options = {},
                      PoolSites sites = PoolSites::kRegular, const ExecOptions& exec = {});

/// Maximum / mean / sum over all sites of each batch item: [B, C]. For an item without sites the maximum
/// is −∞, the mean and the sum 0.
///   throws   InvalidArgument   features that are not f32, f16 or bf16 [N, C]
///   cost     one pass over N · C
Tensor global_max_pool(const SparseTensor& in, const ExecOptions& exec = {});
Tensor global_avg_pool(const SparseTensor& in, const ExecOptions& exec = {});
Tensor global_sum_pool(const SparseTensor& in, const ExecOptions& exec = {});

}  // namespace aerogel
