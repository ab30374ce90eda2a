// SiteRule::kMinkowski by hand, on a line: which sites there are and what each reads.
#include <vector>

#include <gtest/gtest.h>

#include "aerogel/ops/convolution.h"
#include "aerogel/ops/pooling.h"

namespace aerogel {
namespace {

constexpr SiteRule kRule = SiteRule::kMinkowski;

/// One channel on the given sites of a line of `extent` cells.
SparseTensor line(const std::vector<std::int32_t>& sites, const std::vector<float>& features,
                  std::int64_t extent) {
  std::vector<std::int32_t> rows;
  for (const std::int32_t site : sites) rows.insert(rows.end(), {0, site});
  const auto n = static_cast<std::int64_t>(sites.size());
  return SparseTensor::create(Tensor::from<float>({n, 1}, features), Tensor::from<std::int32_t>({n, 2}, rows),
                              {extent}, 1);
}

/// [1, K, 1] with the given taps.
Tensor taps(const std::vector<float>& values) {
  return Tensor::from<float>({1, static_cast<std::int64_t>(values.size()), 1}, values);
}

std::vector<float> values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

std::vector<std::int32_t> sites_of(const SparseTensor& tensor) {
  std::vector<std::int32_t> sites;
  for (std::int64_t i = 0; i < tensor.sites(); ++i) sites.push_back(tensor.coordinates.row(i)[1]);
  return sites;
}

class MinkowskiSites : public ::testing::TestWithParam<Backend> {
 protected:
  MinkowskiSites() { exec.backend = GetParam(); }
  ExecOptions exec;
};
INSTANTIATE_TEST_SUITE_P(Backends, MinkowskiSites, ::testing::Values(Backend::kReference, Backend::kCpu));

TEST_P(MinkowskiSites, StrideFloorsWithoutGrowingTheSet) {
  const SparseTensor x = line({0, 3, 4, 7}, {1, 10, 100, 1000}, 9);
  // Coarse 0, 1, 2, 3 read 2c−1, 2c, 2c+1: (−, 0, −), (−, −, 3), (3, 4, −), (−, −, 7).
  const SparseTensor odd = sparse_conv(x, taps({2, 3, 5}), {{2}, {}, {}, {}, kRule}, {}, exec);
  EXPECT_EQ(sites_of(odd), (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(values(odd.features), (std::vector<float>{3, 50, 320, 5000}));
  EXPECT_EQ(odd.coordinates.spatial_shape(), (Dims{5}));
  EXPECT_EQ(odd.coordinates.tensor_stride(), (Dims{2}));
  // The default rule with that padding reaches one site more.
  EXPECT_EQ(sparse_conv(x, taps({2, 3, 5}), {{2}, {1}, {}, {}}, {}, exec).sites(), 5);
  // Even kernels start at 2c: (0, −), (−, 3), (4, −), (−, 7).
  const SparseTensor even = sparse_conv(x, taps({2, 3}), {{2}, {}, {}, {}, kRule}, {}, exec);
  EXPECT_EQ(values(even.features), (std::vector<float>{2, 30, 200, 3000}));
  const SparseTensor sums = sum_pool(x, {2}, {{2}, {}, {}, {}, kRule}, PoolSites::kRegular, exec);
  EXPECT_EQ(values(sums.features), (std::vector<float>{1, 10, 100, 1000}));
}

TEST_P(MinkowskiSites, ASiteThatNothingReachesGetsTheEpilogueOfZero) {
  const SparseTensor x = line({0, 3}, {1, 10}, 4);
  const Epilogue bias{.bias = Tensor::from<float>({1}, std::vector<float>{7})};
  const SparseTensor out = sparse_conv(x, taps({2}), {{2}, {}, {}, {}, kRule}, bias, exec);
  EXPECT_EQ(sites_of(out), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(values(out.features), (std::vector<float>{9, 7}));
}

TEST_P(MinkowskiSites, StrideOneKeepsTheCoordinateSet) {
  const SparseTensor x = line({5, 2, 3}, {1, 10, 100}, 6);  // rows not sorted
  const SparseTensor out = sparse_conv(x, taps({2, 3}), {{}, {}, {}, {}, kRule}, {}, exec);
  EXPECT_EQ(out.coordinates, x.coordinates);
  EXPECT_EQ(values(out.features), (std::vector<float>{2, 320, 200}));  // site c reads c and c + 1
}

TEST_P(MinkowskiSites, AnInverseLayerReturnsToTheFineSites) {
  const SparseTensor x = line({0, 3, 4, 7}, {1, 10, 100, 1000}, 9);
  const ConvOptions options{{2}, {}, {}, {}, kRule};
  const SparseTensor coarse = sparse_conv(x, taps({2, 3}), options, {}, exec);  // 2, 30, 200, 3000
  const SparseTensor back = inverse_conv(coarse, x.coordinates, taps({5, 7}), options, {}, exec);
  EXPECT_EQ(back.coordinates, x.coordinates);
  EXPECT_EQ(values(back.features), (std::vector<float>{10, 210, 1000, 21000}));
}

TEST_P(MinkowskiSites, GenerativeLayersMakeEverySiteOfTheirWindow) {
  const SparseTensor x = line({0, 2}, {1, 10}, 3);
  // Even: 2c and 2c + 1.
  const SparseTensor even = transposed_conv(x, taps({2, 3}), {{2}, {}, {}, {}, kRule}, {}, exec);
  EXPECT_EQ(sites_of(even), (std::vector<std::int32_t>{0, 1, 4, 5}));
  EXPECT_EQ(values(even.features), (std::vector<float>{2, 3, 20, 30}));
  EXPECT_EQ(even.coordinates.spatial_shape(), (Dims{6}));
  // Odd: 2c − 1, 2c, 2c + 1; −1 is left out.
  const SparseTensor odd = transposed_conv(x, taps({2, 3, 5}), {{2}, {}, {}, {}, kRule}, {}, exec);
  EXPECT_EQ(sites_of(odd), (std::vector<std::int32_t>{0, 1, 3, 4, 5}));
  EXPECT_EQ(values(odd.features), (std::vector<float>{3, 5, 20, 30, 50}));
  // The default rule without padding makes the same sites and loses none, moved by the centre.
  const SparseTensor moved = transposed_conv(x, taps({2, 3, 5}), {{2}, {}, {}, {}}, {}, exec);
  EXPECT_EQ(sites_of(moved), (std::vector<std::int32_t>{0, 1, 2, 4, 5, 6}));
}

TEST_P(MinkowskiSites, StridesPastTheFloorTableStillGiveTheSameSites) {
  const SparseTensor x = line({0, 99, 100, 250}, {1, 2, 3, 4}, 300);
  const SparseTensor out = sparse_conv(x, taps({1}), {{100}, {}, {}, {}, kRule}, {}, exec);
  EXPECT_EQ(sites_of(out), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(values(out.features), (std::vector<float>{1, 3, 0}));
}

TEST(TransposedConv, OutputPaddingGrowsTheExtentAndWhatFitsInIt) {
  // out = 2·in − 1 + tap: from 0: −1, 0, 1; from 2: 3, 4, 5. Extent 2·(3−1) − 2 + 2 + 1 + output_padding.
  const SparseTensor x = line({0, 2}, {1, 10}, 3);
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    ExecOptions exec;
    exec.backend = backend;
    const SparseTensor plain = transposed_conv(x, taps({2, 3, 5}), {{2}, {1}, {}, {}}, {}, exec);
    EXPECT_EQ(plain.coordinates.spatial_shape(), (Dims{5}));
    EXPECT_EQ(sites_of(plain), (std::vector<std::int32_t>{0, 1, 3, 4}));
    const SparseTensor padded = transposed_conv(x, taps({2, 3, 5}), {{2}, {1}, {}, {1}}, {}, exec);
    EXPECT_EQ(padded.coordinates.spatial_shape(), (Dims{6}));
    EXPECT_EQ(sites_of(padded), (std::vector<std::int32_t>{0, 1, 3, 4, 5}));
    EXPECT_EQ(values(padded.features), (std::vector<float>{3, 5, 20, 30, 50}));
  }
}

}  // namespace
}  // namespace aerogel
