// Judges one layer on the input that it really had, against the reference in double.
#pragma once

#include <cstdint>

#include "backend/kernel.h"

namespace aerogel::cli {

struct LayerVerdict {
  std::int64_t rows = 0;  // output rows compared
  double worst = 0;       // largest |err| / tolerance over their elements; at most 1 passes
  double relative_l2 = 0;
  bool passed = true;
};

/// Tolerance of an element: c · 2^-24 · Σ|terms| with c = 4 · √(K · C_in) + 8, the probabilistic bound on
/// rounding errors (Higham & Mary 2019, λ = 4) with room for the epilogue.
///   most_rows  all rows are compared if there are at most this many, else this many, drawn by `seed`
LayerVerdict check_layer(const SparseConvArgs& args, std::int64_t most_rows, std::uint64_t seed);

}  // namespace aerogel::cli
