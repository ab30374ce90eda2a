// Between sparse and dense.
#pragma once

#include "aerogel/sparse_tensor.h"

namespace aerogel {

enum class DenseLayout : std::uint8_t { kChannelsFirst, kChannelsLast };

/// Dense tensor with zeros where no site is: [B, C, D..] or [B, D.., C] f32.
///   throws InvalidArgument if the count of elements overflows, OutOfMemory.
Tensor to_dense(const SparseTensor& in, DenseLayout layout = DenseLayout::kChannelsFirst,
                const ExecOptions& exec = {});

/// Sites where any channel is not zero (NaN counts as not zero), sorted.
///   dense  [B, D.., C] (channels last) or [B, C, D..] f32, 3 to 6 axes
SparseTensor from_dense(const Tensor& dense, DenseLayout layout = DenseLayout::kChannelsLast,
                        const ExecOptions& exec = {});

}  // namespace aerogel
