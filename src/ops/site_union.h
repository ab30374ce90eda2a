// The union of two sets, for verbs that meet features on different sites.
#pragma once

#include <string_view>

#include "aerogel/sparse_tensor.h"

#include "ops/run_op.h"

namespace aerogel {

struct SiteUnion {
  Coordinates sites;  // sorted; tensor stride of a
  Tensor rows_a;      // [N_a] i32: where each site of a went
  Tensor rows_b;      // [N_b] i32
};

/// Runs also in a dry run, since it decides sizes. `record` needs a problem string and gets the time as
/// map_ms. ndim, spatial shape and batch size must agree.
SiteUnion unite(const Coordinates& a, const Coordinates& b, const ExecOptions& exec, OpRecord& record);

/// Throws InvalidArgument unless spatial shape, batch size and feature dtype agree.
void check_united(std::string_view op, const SparseTensor& a, const SparseTensor& b);

/// For each of `count` union rows the row that went there, or −1: rows [N] i32 turned around.
std::vector<std::int64_t> turned_rows(const Tensor& rows, std::int64_t count);

}  // namespace aerogel
