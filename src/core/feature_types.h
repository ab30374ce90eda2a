// The dtypes that features can have, and code that is written once for all of them.
#pragma once

#include <utility>

#include "aerogel/types.h"

namespace aerogel {

inline bool is_feature_dtype(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

/// body(T{}) with the C++ type of a feature dtype: float, F16 or BF16.
template <class Body>
decltype(auto) with_feature_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kF16:
      return std::forward<Body>(body)(F16{});
    case DType::kBF16:
      return std::forward<Body>(body)(BF16{});
    default:
      return std::forward<Body>(body)(0.0f);
  }
}

}  // namespace aerogel
