#include "pca.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aerogel::cli {

namespace {

constexpr std::int64_t kMostRows = 50000;
constexpr int kMostSweeps = 30;  // converges quadratically: 6 to 10 in practice

/// Rotates rows and columns p and q so that their off-diagonal entry vanishes.
void rotate(std::vector<double>& a, std::vector<double>& v, std::size_t n, std::size_t p, std::size_t q) {
  const double apq = a[p * n + q];
  if (apq == 0) return;
  const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
  const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1);
  const double s = t * c;
  for (std::size_t k = 0; k < n; ++k) {
    const double akp = a[k * n + p];
    const double akq = a[k * n + q];
    a[k * n + p] = c * akp - s * akq;
    a[k * n + q] = s * akp + c * akq;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double apk = a[p * n + k];
    const double aqk = a[q * n + k];
    a[p * n + k] = c * apk - s * aqk;
    a[q * n + k] = s * apk + c * aqk;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double vp = v[p * n + k];
    const double vq = v[q * n + k];
    v[p * n + k] = c * vp - s * vq;
    v[q * n + k] = s * vp + c * vq;
  }
}

double off_diagonal(const std::vector<double>& a, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) sum += i == j ? 0 : a[i * n + j] * a[i * n + j];
  }
  return sum;
}

}  // namespace

Eigen jacobi_eigen(std::vector<double> a, std::int64_t size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> v(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) v[i * n + i] = 1;
  const double scale = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
  for (int sweep = 0; sweep < kMostSweeps && off_diagonal(a, n) > 1e-22 * scale; ++sweep) {
    for (std::size_t p = 0; p + 1 < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) rotate(a, v, n, p, q);
    }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i * n + i] > a[j * n + j]; });
  Eigen eigen;
  for (const std::size_t row : order) {
    eigen.values.push_back(a[row * n + row]);
    const double* vector = v.data() + row * n;
    const double* largest =
        std::max_element(vector, vector + n, [](double x, double y) { return std::abs(x) < std::abs(y); });
    const double sign = n > 0 && *largest < 0 ? -1 : 1;
    for (std::size_t k = 0; k < n; ++k) eigen.vectors.push_back(sign * vector[k]);
  }
  return eigen;
}

Components principal_components(const Tensor& features, std::int64_t asked) {
  const std::int64_t rows = features.size(0);
  const auto channels = static_cast<std::size_t>(features.size(1));
  const float* data = features.data<float>();
  Components out;
  out.count = std::min<std::int64_t>(asked, features.size(1));
  const std::int64_t used = std::min(rows, kMostRows);
  if (used == 0) {
    out.explained.assign(static_cast<std::size_t>(out.count), 0);
    return out;
  }
  const auto row_of = [&](std::int64_t i) {
    return data + i * rows / used * static_cast<std::int64_t>(channels);
  };
  std::vector<double> mean(channels, 0);
  for (std::int64_t i = 0; i < used; ++i) {
    for (std::size_t c = 0; c < channels; ++c) mean[c] += static_cast<double>(row_of(i)[c]);
  }
  for (double& value : mean) value /= static_cast<double>(used);
  std::vector<double> covariance(channels * channels, 0);
  std::vector<double> centred(channels);
  for (std::int64_t i = 0; i < used; ++i) {
    for (std::size_t c = 0; c < channels; ++c) centred[c] = static_cast<double>(row_of(i)[c]) - mean[c];
    for (std::size_t c = 0; c < channels; ++c) {
      double* line = covariance.data() + c * channels;
      for (std::size_t d = c; d < channels; ++d) line[d] += centred[c] * centred[d];
    }
  }
  double trace = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t d = c; d < channels; ++d) {
      covariance[c * channels + d] /= static_cast<double>(used);
      covariance[d * channels + c] = covariance[c * channels + d];
    }
    trace += covariance[c * channels + c];
  }
  const Eigen eigen = jacobi_eigen(covariance, features.size(1));
  const auto count = static_cast<std::size_t>(out.count);
  for (std::size_t k = 0; k < count; ++k)
    out.explained.push_back(trace > 0 ? std::max(eigen.values[k], 0.0) / trace : 0);
  out.scores.resize(static_cast<std::size_t>(rows) * count);
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = data + i * static_cast<std::int64_t>(channels);
    for (std::size_t k = 0; k < count; ++k) {
      double sum = 0;
      for (std::size_t c = 0; c < channels; ++c)
        sum += (static_cast<double>(row[c]) - mean[c]) * eigen.vectors[k * channels + c];
      out.scores[static_cast<std::size_t>(i) * count + k] = static_cast<float>(sum);
    }
  }
  return out;
}

}  // namespace aerogel::cli
