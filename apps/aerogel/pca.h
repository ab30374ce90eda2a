// Principal components of features, for pictures: the same bits on every machine and for any thread count.
#pragma once

#include <cstdint>
#include <vector>

#include "aerogel/tensor.h"

namespace aerogel::cli {

/// Eigenvalues (largest first) and eigenvectors (rows) of a symmetric matrix.
struct Eigen {
  std::vector<double> values;  // [C]
  std::vector<double>
      vectors;  // [C, C], row k belongs to values[k]; its largest entry by magnitude is positive
};

/// Cyclic Jacobi rotations (Golub & Van Loan, section 8.5): every off-diagonal pair in order until all are
/// tiny.
///   matrix [C, C], symmetric
Eigen jacobi_eigen(std::vector<double> matrix, std::int64_t size);

/// The first components of mean-free rows.
struct Components {
  std::int64_t count = 0;         // min(asked, C)
  std::vector<float> scores;      // [N, count]
  std::vector<double> explained;  // [count] shares of the variance
};

/// features [N, C] f32. The covariance comes from at most 50,000 evenly spaced rows; all rows get scores.
Components principal_components(const Tensor& features, std::int64_t asked);

}  // namespace aerogel::cli
