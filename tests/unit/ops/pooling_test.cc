// Pools through the public verbs, with values worked out by hand, on every backend that is here.
#include "aerogel/ops/pooling.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace aerogel {
namespace {

/// Sites 0, 1 and 4 of a line of 6 cells in item 0, none in item 1; features (1, −1), (2, −2), (5, −5).
SparseTensor line() {
  return SparseTensor::create(Tensor::from<float>({3, 2}, std::vector<float>{1, -1, 2, -2, 5, -5}),
                              Tensor::from<std::int32_t>({3, 2}, std::vector<std::int32_t>{0, 0, 0, 1, 0, 4}),
                              {6}, 2);
}

std::vector<float> values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

TEST(Pooling, SumsOverWindowsAndItems) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    ExecOptions exec;
    exec.backend = backend;
    const ConvOptions pairs{{2}, {}, {}, {}};
    EXPECT_EQ(values(sum_pool(line(), {2}, pairs, PoolSites::kRegular, exec).features),
              (std::vector<float>{3, -3, 5, -5}));
    EXPECT_EQ(values(avg_pool(line(), {2}, pairs, PoolSites::kRegular, exec).features),
              (std::vector<float>{1.5, -1.5, 5, -5}));
    EXPECT_EQ(values(sum_pool(line(), {3}, {}, PoolSites::kSubmanifold, exec).features),
              (std::vector<float>{3, -3, 3, -3, 5, -5}));
    EXPECT_EQ(values(global_sum_pool(line(), exec)), (std::vector<float>{8, -8, 0, 0}));
    constexpr float kInf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(values(global_max_pool(line(), exec)), (std::vector<float>{5, -1, -kInf, -kInf}));
  }
}

}  // namespace
}  // namespace aerogel
