// The order of coordinate rows by (batch, columns left to right).
#pragma once

#include <cstdint>
#include <vector>

#include "aerogel/types.h"

namespace aerogel {

/// rows [n, 1+ndim] i32, in range. Returns the permutation that sorts them (equal rows keep their order), or
/// nothing if they are sorted already.
std::vector<std::int32_t> sorted_order_of_rows(const std::int32_t* rows, std::int64_t n,
                                               std::int64_t batch_size, const Dims& spatial_shape);

}  // namespace aerogel
