// Small signed inputs for the layers' tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "aerogel/nn.h"

namespace aerogel::nn {

/// `count` pseudo-random sites (fewer where they fall together) with signed features; the same for one
/// seed.
inline SparseTensor scene(std::int64_t count, std::int64_t channels, const Dims& shape,
                          std::int64_t batch = 1, std::uint64_t seed = 7) {
  std::uint64_t state = seed;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>(state >> 33);
  };
  std::set<std::vector<std::int32_t>> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int32_t> row{static_cast<std::int32_t>(next() % batch)};
    for (std::int64_t extent : shape) row.push_back(static_cast<std::int32_t>(next() % extent));
    rows.insert(row);
  }
  std::vector<std::int32_t> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  const auto n = static_cast<std::int64_t>(rows.size());
  std::vector<float> features(static_cast<std::size_t>(n * channels));
  for (float& value : features) value = static_cast<float>(next() % 2001 - 1000) / 1000.0F;
  return SparseTensor::create(Tensor::from<float>({n, channels}, features),
                              Tensor::from<std::int32_t>({n, 1 + shape.size()}, flat), shape, batch);
}

/// ‖a − b‖ / ‖b‖ in double.
inline double relative_l2(const Tensor& a, const Tensor& b) {
  double error = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    const double difference =
        static_cast<double>(a.data<float>()[i]) - static_cast<double>(b.data<float>()[i]);
    error += difference * difference;
    norm += static_cast<double>(b.data<float>()[i]) * static_cast<double>(b.data<float>()[i]);
  }
  return std::sqrt(error / norm);
}

}  // namespace aerogel::nn
