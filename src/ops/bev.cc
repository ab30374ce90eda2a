// Bird's-eye views: one column is dropped.
#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/sites.h"

#include "ops/checks.h"

namespace aerogel {
namespace {

/// The indices without column 1 + axis, which is 0 everywhere, so that the rows stay sorted.
Coordinates without_axis(const Coordinates& set, int axis) {
  Dims shape;
  Dims stride;
  for (int i = 0; i < set.ndim(); ++i) {
    if (i == axis) continue;
    shape.push_back(set.spatial_shape()[i]);
    stride.push_back(set.tensor_stride()[i]);
  }
  Tensor indices = Tensor::empty({set.size(), set.ndim()}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  for (std::int64_t site = 0; site < set.size(); ++site) {
    const std::int32_t* from = set.row(site);
    to = std::copy_n(from, 1 + axis, to);
    to = std::copy(from + 2 + axis, from + 1 + set.ndim(), to);
  }
  return Coordinates::adopt_sorted(indices, shape, set.batch_size(), stride);
}

}  // namespace

SparseTensor bev(const SparseTensor& in, int axis, Reduce reduce, const ExecOptions& exec) {
  constexpr std::string_view kOp = "bev";
  // The cpu's maps floor by strides up to 64; sums and maxima may go in steps.
  constexpr std::int64_t kMostAtOnce = 64;
  check_sparse(kOp, in);
  const int ndim = in.coordinates.ndim();
  if (ndim < 2 || axis < 0 || axis >= ndim) {
    throw InvalidArgument(
        fmt::format("[{}] expected 2 or more spatial columns and axis 0 to {}, got {} and axis {}", kOp,
                    ndim - 1, ndim, axis));
  }
  if (reduce != Reduce::kSum && reduce != Reduce::kMax)
    throw InvalidArgument(fmt::format("[{}] features are summed or their maximum taken, nothing else", kOp));
  SparseTensor flat = in.coordinates.spatial_shape()[axis] == 1 ? sort_rows(in, exec) : in;
  while (flat.coordinates.spatial_shape()[axis] > 1) {
    Dims factor = Dims::filled(ndim, 1);
    factor[axis] = std::min(flat.coordinates.spatial_shape()[axis], kMostAtOnce);
    flat = downsample(flat, factor, reduce, exec);
  }
  return {flat.features, without_axis(flat.coordinates, axis)};
}

Tensor bev_dense(const SparseTensor& in, const ExecOptions& exec) {
  constexpr std::string_view kOp = "bev_dense";
  check_sparse(kOp, in);
  const Dims& shape = in.coordinates.spatial_shape();
  if (shape.size() != 3)
    throw InvalidArgument(fmt::format("[{}] expected 3 spatial columns, got {}", kOp, shape.size()));
  const Tensor dense = to_dense(in, DenseLayout::kChannelsFirst, exec);
  return dense.reshape({dense.size(0), in.channels() * shape[0], shape[1], shape[2]});
}

}  // namespace aerogel
