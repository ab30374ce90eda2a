// What an op that keeps its rows tells before it runs.
#pragma once

#include <string_view>

#include <fmt/core.h>

#include "aerogel/plan.h"

namespace aerogel {

inline OpRecord row_record(std::string_view op, std::int64_t n, std::int64_t c_in, std::int64_t c_out,
                           DType dtype) {
  OpRecord record;
  record.op = op;
  record.problem = fmt::format("{}:n={}:cin={}:cout={}:dtype={}", op, n, c_in, c_out, dtype_name(dtype));
  record.sites_in = record.sites_out = n;
  record.c_in = c_in;
  record.c_out = c_out;
  return record;
}

}  // namespace aerogel
