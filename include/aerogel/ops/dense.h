// Between sparse and dense, for f32, f16 and bf16.
#pragma once

#include "aerogel/sparse_tensor.h"

namespace aerogel {

enum class DenseLayout : std::uint8_t { kChannelsFirst, kChannelsLast };

/// Dense tensor with zeros where no site is.
///
///   in       features [N, C]
///   returns  [B, C, D..] or [B, D.., C]
///   throws   InvalidArgument   the count of elements overflows
///            OutOfMemory
///   cost     O(B · C · cells) writes, of which N · C are not zero
Tensor to_dense(const SparseTensor& in, DenseLayout layout = DenseLayout::kChannelsFirst,
                const ExecOptions& exec = {});

/// Sites where any channel is not zero (NaN counts as not zero), sorted.
///
///   dense    [B, D.., C] (channels last) or [B, C, D..]   3 to 6 axes
///   returns  features [N, C]                              spatial shape D.., batch size B
///   throws   InvalidArgument   a dtype or a count of axes that does not fit
///   cost     two reads of `dense`
SparseTensor from_dense(const Tensor& dense, DenseLayout layout = DenseLayout::kChannelsLast,
                        const ExecOptions& exec = {});

}  // namespace aerogel
