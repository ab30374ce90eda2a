#include "nn/spconv_compat/crop.h"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/scope.h"

namespace aerogel::nn::spconv {
namespace {

bool inside(const std::int32_t* row, const Dims& shape) {
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (row[1 + axis] >= shape[axis]) return false;
  }
  return true;
}

}  // namespace

SparseTensor CropLayer::forward(const SparseTensor& in, Context& context) const {
  const SparseTensor whole = inner_->forward(in, context);
  const Coordinates& sites = whole.coordinates;
  Dims shape = sites.spatial_shape();
  for (int axis = 0; axis < shape.size(); ++axis) {
    shape[axis] -= excess_[axis];
    if (shape[axis] < 1) {
      throw InvalidArgument(
          fmt::format("{} the output extent on axis {} would be {}", where(context), axis, shape[axis]));
    }
  }
  std::vector<std::int64_t> kept;
  for (std::int64_t site = 0; site < sites.size(); ++site) {
    if (inside(sites.row(site), shape)) kept.push_back(site);
  }
  const auto n = static_cast<std::int64_t>(kept.size());
  Tensor indices = Tensor::empty({n, 1 + sites.ndim()}, DType::kI32);
  Tensor features = Tensor::empty({n, whole.channels()}, DType::kF32, context.exec);
  for (std::int64_t i = 0; i < n; ++i) {
    std::copy_n(sites.row(kept[i]), 1 + sites.ndim(),
                indices.mutable_data<std::int32_t>() + i * (1 + sites.ndim()));
    if (!context.exec.dry_run) {
      std::copy_n(whole.features.data<float>() + kept[i] * whole.channels(), whole.channels(),
                  features.mutable_data<float>() + i * whole.channels());
    }
  }
  return {features, Coordinates::adopt_sorted(indices, shape, sites.batch_size(), sites.tensor_stride())};
}

}  // namespace aerogel::nn::spconv
