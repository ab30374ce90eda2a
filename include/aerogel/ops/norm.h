// Norms by the statistics of the call itself: of a row, or of a batch item. Batch norm is in elementwise.h.
#pragma once

#include <cstdint>

#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// What stands behind every norm: out = (in − mean) / √(variance + eps) · weight + bias.
struct Norm {
  Tensor weight;      ///< [C] f32 or the features' dtype; undefined: 1
  Tensor bias;        ///< [C] f32 or the features' dtype; undefined: 0
  double eps = 1e-5;  ///< ≥ 0; PyTorch's RMSNorm takes the dtype's machine epsilon where it is not given
};

/// Layer norm: mean and biased variance of each row of [N, C], over its channels.
///
///   in       [N, C]            f32, f16, bf16
///   returns  [N, C]            the same dtype, rounded once; statistics in double
///   throws   InvalidArgument   shapes, dtypes, a negative or NaN eps
///   cost     three passes over a row that stays in cache
///   source   Ba, Kiros & Hinton 2016; torch.nn.LayerNorm over the last axis
Tensor layer_norm(const Tensor& in, const Norm& norm = {}, const ExecOptions& exec = {});
SparseTensor layer_norm(const SparseTensor& in, const Norm& norm = {}, const ExecOptions& exec = {});

/// RMS norm: in / √(mean square of the row + eps) · weight + bias. As layer_norm with the mean counted as 0.
///   source   Zhang & Sennrich 2019; torch.nn.RMSNorm (which has no bias)
Tensor rms_norm(const Tensor& in, const Norm& norm = {}, const ExecOptions& exec = {});
SparseTensor rms_norm(const SparseTensor& in, const Norm& norm = {}, const ExecOptions& exec = {});

/// Group norm: mean and biased variance of each batch item and group, over the item's sites and the group's
/// C / groups neighbouring channels.
///
///   in       features [N, C]   f32, f16, bf16; batch items may lack sites
///   groups   1 … C             divides C
///   returns  [N, C]            the same sites and dtype; statistics in double, the same bits for any threads
///   throws   InvalidArgument   shapes, dtypes, groups, a negative or NaN eps
///   cost     three passes over the features
///   source   Wu & He 2018; torch.nn.GroupNorm on each item's active sites
SparseTensor group_norm(const SparseTensor& in, std::int64_t groups, const Norm& norm = {},
                        const ExecOptions& exec = {});

/// Instance norm: group norm with one channel a group.
SparseTensor instance_norm(const SparseTensor& in, const Norm& norm = {}, const ExecOptions& exec = {});

}  // namespace aerogel
