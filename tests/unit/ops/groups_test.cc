// Groups of channels by hand, and depthwise as the sum of what one channel alone gives.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aerogel/ops/convolution.h"
#include "aerogel/plan.h"

namespace aerogel {
namespace {

/// Four channels on sites 0 and 1 of a line of 3 cells.
SparseTensor line() {
  return SparseTensor::create(Tensor::from<float>({2, 4}, std::vector<float>{1, 2, 3, 4, 10, 20, 30, 40}),
                              Tensor::from<std::int32_t>({2, 2}, std::vector<std::int32_t>{0, 0, 0, 1}), {3},
                              1);
}

std::vector<float> values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

ConvOptions in_groups(std::int64_t groups) {
  ConvOptions options;
  options.groups = groups;
  return options;
}

TEST(Groups, ReadTheirOwnChannels) {
  // [C_out = 2, K = 3, C_in / groups = 2]: the centre tap is (1, 2) and (3, 4), the right neighbour's (5, 6),
  // (7, 8).
  const Tensor weight =
      Tensor::from<float>({2, 3, 2}, std::vector<float>{0, 0, 1, 2, 5, 6, 0, 0, 3, 4, 7, 8});
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    ExecOptions exec;
    exec.backend = backend;
    EXPECT_EQ(values(subm_conv(line(), weight, in_groups(2), {}, exec).features),
              (std::vector<float>{1 + 4 + 50 + 120, 9 + 16 + 210 + 320, 50, 250}));
  }
}

TEST(Groups, DepthwiseScalesEachChannelAndNamesItsRow) {
  const Tensor weight =
      Tensor::from<float>({4, 3, 1}, std::vector<float>{0, 1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8});
  const Tensor point = Tensor::from<float>({4, 1}, std::vector<float>{1, 2, 3, 4});
  std::string kernel;
  ExecOptions exec;
  exec.observer = [&](const OpRecord& record) { kernel = record.kernel; };
  EXPECT_EQ(values(subm_conv(line(), weight, in_groups(4), {}, exec).features),
            (std::vector<float>{21, 86, 195, 348, 10, 60, 150, 280}));
  EXPECT_EQ(kernel, "cpu/sparse_conv/depthwise/float");
  EXPECT_EQ(values(sparse_conv(line(), point, in_groups(4), {}, exec).features),
            (std::vector<float>{1, 4, 9, 16, 10, 40, 90, 160}));
  EXPECT_EQ(kernel, "cpu/linear/depthwise/float");
  exec.backend = Backend::kReference;
  EXPECT_EQ(values(subm_conv(line(), weight, in_groups(4), {}, exec).features),
            (std::vector<float>{21, 86, 195, 348, 10, 60, 150, 280}));
}

}  // namespace
}  // namespace aerogel
