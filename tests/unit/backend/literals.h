// Tensors from literals, and back.
#pragma once

#include <cstdint>
#include <vector>

#include "aerogel/sparse_tensor.h"

namespace aerogel {

inline Tensor floats(const Dims& shape, const std::vector<float>& values) {
  return Tensor::from<float>(shape, values);
}

/// rows: batch, then the columns of `shape`, site after site.
inline Coordinates sites(const std::vector<std::int32_t>& rows, const Dims& shape, std::int64_t batch) {
  const std::int64_t columns = 1 + shape.size();
  return Coordinates::create(Tensor::from<std::int32_t>({std::ssize(rows) / columns, columns}, rows), shape,
                             batch);
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

}  // namespace aerogel
