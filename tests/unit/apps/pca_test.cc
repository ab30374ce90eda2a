#include "pca.h"

#include <cmath>

#include <gtest/gtest.h>

namespace aerogel::cli {
namespace {

TEST(Pca, JacobiFindsAKnownSpectrum) {
  // Eigenvalues 2 − √2, 2, 2 + √2 of the second difference.
  const Eigen eigen = jacobi_eigen({2, -1, 0, -1, 2, -1, 0, -1, 2}, 3);
  const double expected[] = {2 + std::sqrt(2.0), 2, 2 - std::sqrt(2.0)};
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(eigen.values[k], expected[k], 1e-12);
  const double vector[] = {-0.5, std::sqrt(0.5), -0.5};  // of the largest; its largest entry is positive
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(eigen.vectors[k], vector[k], 1e-12);
}

TEST(Pca, JacobiSatisfiesItsDefinition) {
  constexpr std::size_t kSize = 24;
  std::vector<double> matrix(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j)
      matrix[i * kSize + j] = std::sin(static_cast<double>(i * j + i + j)) + (i == j ? 2.0 : 0.0);
  }
  const Eigen eigen = jacobi_eigen(matrix, kSize);
  for (std::size_t k = 0; k < kSize; ++k) {
    if (k > 0) {
      EXPECT_LE(eigen.values[k], eigen.values[k - 1]);
    }
    const double* v = eigen.vectors.data() + k * kSize;
    double length = 0;
    for (std::size_t i = 0; i < kSize; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < kSize; ++j) product += matrix[i * kSize + j] * v[j];
      EXPECT_NEAR(product, eigen.values[k] * v[i], 1e-9);
      length += v[i] * v[i];
    }
    EXPECT_NEAR(length, 1, 1e-12);
  }
}

/// Rows ± 3 (1, 1, 0)/√2, ± 2 (1, −1, 0)/√2, ± 1 (0, 0, 1), around (10, 20, 30): variances 3, 4/3, 1/3.
Tensor known_rows() {
  const float a = 3 * std::sqrt(0.5F);
  const float b = 2 * std::sqrt(0.5F);
  std::vector<float> values;
  for (const float sign : {1.0F, -1.0F}) {
    for (const auto& row : {std::vector<float>{a, a, 0}, {b, -b, 0}, {0, 0, 1}}) {
      for (std::size_t c = 0; c < 3; ++c) values.push_back(static_cast<float>(10 * (c + 1)) + sign * row[c]);
    }
  }
  return Tensor::from<float>({6, 3}, values);
}

TEST(Pca, FindsTheAxesOfAKnownCovariance) {
  const Components components = principal_components(known_rows(), 2);
  ASSERT_EQ(components.count, 2);
  EXPECT_NEAR(components.explained[0], 9.0 / 14, 1e-6);
  EXPECT_NEAR(components.explained[1], 4.0 / 14, 1e-6);
  const float expected[6][2] = {{3, 0}, {0, 2}, {0, 0}, {-3, 0}, {0, -2}, {0, 0}};
  const float turn = components.scores[3] < 0 ? -1.0F : 1.0F;  // two entries of equal size: either sign
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(components.scores[i * 2], expected[i][0], 1e-5) << i;
    EXPECT_NEAR(components.scores[i * 2 + 1], turn * expected[i][1], 1e-5) << i;
  }
}

TEST(Pca, TakesFewChannelsNoRowsAndConstantRows) {
  EXPECT_EQ(principal_components(Tensor::zeros({5, 2}, DType::kF32), 3).count, 2);
  const Components none = principal_components(Tensor::zeros({0, 4}, DType::kF32), 3);
  EXPECT_EQ(none.explained, (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(none.scores.empty());
  const Components flat = principal_components(Tensor::zeros({9, 4}, DType::kF32), 3);
  EXPECT_EQ(flat.scores, std::vector<float>(27, 0));
  EXPECT_EQ(flat.explained[0], 0);
}

}  // namespace
}  // namespace aerogel::cli
