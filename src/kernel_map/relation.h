// The coordinate relation, written once. Per axis
//
//   fine = stride · coarse + dilation · tap − padding
//
// and nothing else in the code says which site feeds which. Kernel offsets count row-major, last axis
// fastest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "aerogel/kernel_map.h"

namespace aerogel {

/// The relation along one axis, for one tap.
struct AxisRelation {
  std::int64_t stride;
  std::int64_t shift;  // dilation · tap − padding

  std::int64_t fine(std::int64_t coarse) const { return stride * coarse + shift; }

  /// The coarse coordinate that meets `fine`, if the stride hits it.
  bool coarse(std::int64_t fine_coordinate, std::int64_t& result) const {
    const std::int64_t scaled = fine_coordinate - shift;
    result = scaled / stride;
    return scaled >= 0 && result * stride == scaled;
  }
};

/// The relation of every axis for kernel offset `offset`: out[ndim].
inline void axis_relations(const KernelSpec& spec, std::int64_t offset, AxisRelation* out) {
  const Dims tap = spec.tap(offset);
  for (int axis = 0; axis < spec.ndim(); ++axis) {
    out[axis] = {spec.stride[axis], spec.dilation[axis] * tap[axis] - spec.padding[axis]};
  }
}

/// Moves the spatial columns of `from` to the site it meets through one kernel offset, in the direction of
/// the layer: a regular layer goes fine → coarse (input → output), a transposed one coarse → fine, a
/// submanifold layer output → input. False if the stride misses or the site leaves `extent`. Rows are
/// [1+ndim]; column 0 is copied.
inline bool follow(const KernelSpec& spec, const AxisRelation* relation, const Dims& extent,
                   const std::int32_t* from, std::int32_t* to) {
  to[0] = from[0];
  for (int axis = 0; axis < spec.ndim(); ++axis) {
    std::int64_t moved = 0;
    if (spec.kind == ConvKind::kRegular) {
      if (!relation[axis].coarse(from[1 + axis], moved)) return false;
    } else {
      moved = relation[axis].fine(from[1 + axis]);
    }
    if (moved < 0 || moved >= extent[axis]) return false;
    to[1 + axis] = static_cast<std::int32_t>(moved);
  }
  return true;
}

/// coarse = floor(fine / stride) on every axis: the output site that SiteRule::kMinkowski and kBlocks give an
/// input site of a regular layer. Rows are [1+ndim]; column 0 is copied.
inline void floor_site(const KernelSpec& spec, const std::int32_t* from, std::int32_t* to) {
  to[0] = from[0];
  for (int axis = 0; axis < spec.ndim(); ++axis) {
    to[1 + axis] = static_cast<std::int32_t>(from[1 + axis] / spec.stride[axis]);  // from is never negative
  }
}

/// Whether a layer's output sites are its input's through floor_site.
inline bool floors_sites(const KernelSpec& spec) {
  return spec.sites != SiteRule::kReached && spec.kind == ConvKind::kRegular;
}

/// The tensor stride of the output sites: multiplied by a regular layer's stride, divided by a transposed
/// one's.
inline Dims output_tensor_stride(const KernelSpec& spec, const Dims& tensor_stride) {
  Dims result = tensor_stride;
  for (int axis = 0; axis < spec.ndim(); ++axis) {
    if (spec.kind == ConvKind::kRegular &&
        __builtin_mul_overflow(result[axis], spec.stride[axis], &result[axis])) {
      result[axis] = std::numeric_limits<std::int64_t>::max();  // farther apart than any voxel can be
    }
    if (spec.kind == ConvKind::kTransposed)
      result[axis] = std::max<std::int64_t>(1, result[axis] / spec.stride[axis]);
  }
  return result;
}

}  // namespace aerogel
