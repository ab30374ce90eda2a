// Judges one layer on the input that it really had, against the reference in double.
#pragma once

#include <cstdint>
#include <limits>

#include "backend/kernel.h"

namespace aerogel::cli {

struct LayerVerdict {
  std::int64_t rows = 0;  // output rows compared
  double worst = 0;       // largest |err| / tolerance over their elements; at most 1 passes
  double squared_error = 0;
  double squared_norm = 0;
  bool passed = true;

  double relative_l2() const;
  /// Takes in the verdict on other rows of the same layer.
  void join(const LayerVerdict& other);
};

/// Which rows a check compares: all if they are few and cheap enough, else a sample drawn by `seed`.
struct CheckSample {
  std::int64_t rows = 0;   // at most
  std::int64_t terms = 0;  // products at most, about; 16 rows are compared in any case
  std::uint64_t seed = 0;
};
inline constexpr std::int64_t kEverything = std::numeric_limits<std::int64_t>::max();

/// Tolerance of an element: c · 2^-24 · Σ|terms| with c = 4 · √(K · C_in) + 8, the probabilistic bound on
/// rounding errors (Higham & Mary 2019, λ = 4) with room for the epilogue.
///   threads  as everywhere; the verdict is the same bits for any number
LayerVerdict check_layer(const SparseConvArgs& args, const CheckSample& sample, int threads = 0);

}  // namespace aerogel::cli
