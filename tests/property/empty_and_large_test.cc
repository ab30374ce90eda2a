// Nothing at all, sites that vanish, and more rows than a 21-bit count holds.
#include <cstdlib>

#include <gtest/gtest.h>

#include "aerogel/ops/convolution.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/ops/voxelize.h"

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

SparseTensor no_sites(int ndim, std::int64_t channels) {
  return SparseTensor::create(Tensor::zeros({0, channels}, DType::kF32),
                              Tensor::zeros({0, 1 + ndim}, DType::kI32), Dims::filled(ndim, 9), 2);
}

TEST(Empty, NoSitesPassThroughEveryVerb) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    ExecOptions exec;
    exec.backend = backend;
    for (int ndim = 1; ndim <= 3; ++ndim) {
      const SparseTensor x = no_sites(ndim, 4);
      Dims weight_shape{6};
      for (int axis = 0; axis < ndim; ++axis) weight_shape.push_back(3);
      weight_shape.push_back(4);
      const ConvWeight weight(Tensor::zeros(weight_shape, DType::kF32));
      const Dims two = Dims::filled(ndim, 2);
      EXPECT_EQ(subm_conv(x, weight, {}, {}, exec).features.str(), "f32 [0, 6]");
      const SparseTensor down = sparse_conv(x, weight, {two, {}, {}, {}}, {}, exec);
      EXPECT_EQ(down.features.str(), "f32 [0, 6]");
      EXPECT_EQ(down.coordinates.spatial_shape(), Dims::filled(ndim, 4));
      EXPECT_EQ(inverse_conv(down, x.coordinates,
                             Tensor::zeros(
                                 [&] {
                                   Dims shape = weight_shape;
                                   shape[ndim + 1] = 6;
                                   return shape;
                                 }(),
                                 DType::kF32),
                             {two, {}, {}, {}}, {}, exec)
                    .features.str(),
                "f32 [0, 6]");
      EXPECT_EQ(transposed_conv(x, weight, {two, {}, {}, {}}, {}, exec).features.str(), "f32 [0, 6]");
      EXPECT_EQ(linear(x.features, Tensor::zeros({5, 4}, DType::kF32), {}, exec).str(), "f32 [0, 5]");
      const Dims window = Dims::filled(ndim, 3);
      EXPECT_EQ(max_pool(x, window, {two, {}, {}, {}}, PoolSites::kRegular, MaxIdentity::kZero, exec).sites(),
                0);
      EXPECT_EQ(avg_pool(x, window, {}, PoolSites::kSubmanifold, exec).sites(), 0);
      EXPECT_EQ(global_max_pool(x, exec).str(), "f32 [2, 4]");
      EXPECT_EQ(global_avg_pool(x, exec).data<float>()[7], 0.0f);
      EXPECT_EQ(relu(add(x, x, exec), exec).sites(), 0);
      EXPECT_EQ(add_union(x, no_sites(ndim, 4), exec).sites(), 0);
      const SparseTensor parts[] = {x, x};
      EXPECT_EQ(concat(parts, exec).features.str(), "f32 [0, 8]");
      const Tensor ones = Tensor::from<float>({4}, std::vector<float>(4, 1.0f));
      EXPECT_EQ(batch_norm_train(x, {ones, ones, ones, ones}, exec).sites(), 0);
      EXPECT_EQ(batch_norm(x, {ones, ones, ones, ones}, exec).sites(), 0);
      const Tensor dense = to_dense(x, DenseLayout::kChannelsFirst, exec);
      EXPECT_EQ(dense.size(0), 2);
      EXPECT_EQ(from_dense(dense, DenseLayout::kChannelsFirst, exec).sites(), 0);
    }
    const Tensor no_points = Tensor::zeros({0, 4}, DType::kF32);
    EXPECT_EQ(voxelize(no_points, {}, {}, exec).indices.str(), "i32 [0, 3]");
    const MeanVoxels mean = voxelize_mean(no_points, {}, exec);
    EXPECT_EQ(mean.voxels.features.str(), "f32 [0, 4]");
    EXPECT_EQ(devoxelize_nearest(mean.voxels.features, mean.point_voxel, exec).str(), "f32 [0, 4]");
  }
}

TEST(Empty, BatchOfZeroIsLegal) {
  const SparseTensor x = SparseTensor::create(Tensor::zeros({0, 4}, DType::kF32),
                                              Tensor::zeros({0, 4}, DType::kI32), {5, 5, 5}, 0);
  EXPECT_EQ(subm_conv(x, Tensor::zeros({3, 3, 3, 3, 4}, DType::kF32)).features.str(), "f32 [0, 3]");
  EXPECT_EQ(global_max_pool(x).str(), "f32 [0, 4]");
  EXPECT_EQ(to_dense(x).str(), "f32 [0, 4, 5, 5, 5]");
}

TEST(Empty, ALayerThatReachesNothingGivesAnEmptyTensorThatLaterLayersTake) {
  // One site at an odd coordinate, kernel 1, stride 2, no padding: no tap reaches it.
  const SparseTensor x =
      SparseTensor::create(Tensor::zeros({1, 2}, DType::kF32),
                           Tensor::from<std::int32_t>({1, 2}, std::vector<std::int32_t>{0, 3}), {8}, 1);
  const SparseTensor gone = sparse_conv(x, Tensor::zeros({5, 1, 2}, DType::kF32), {{2}, {}, {}, {}});
  EXPECT_EQ(gone.sites(), 0);
  EXPECT_EQ(gone.coordinates.spatial_shape(), (Dims{4}));
  EXPECT_EQ(subm_conv(gone, Tensor::zeros({3, 3, 5}, DType::kF32)).features.str(), "f32 [0, 3]");
  EXPECT_EQ(to_dense(gone).str(), "f32 [1, 5, 4]");
}

// A line of n sites. With all features 1 and weights w[k], an inner site gets w0 + w1 + w2, the ends lack
// one.
void check_line_of(std::int64_t n) {
  Tensor indices = Tensor::empty({n, 2}, DType::kI32);
  for (std::int64_t i = 0; i < n; ++i) {
    indices.mutable_data<std::int32_t>()[2 * i] = 0;
    indices.mutable_data<std::int32_t>()[2 * i + 1] = static_cast<std::int32_t>(i);
  }
  Tensor ones = Tensor::empty({n, 4}, DType::kF32);
  std::fill_n(ones.mutable_data<float>(), ones.numel(), 0.25f);  // four channels of 1/4 sum to 1
  const SparseTensor x = SparseTensor::create(ones, indices, {n}, 1);
  Tensor weight = Tensor::empty({16, 3, 4}, DType::kF32);
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    weight.mutable_data<float>()[i] = static_cast<float>(1 << ((i / 4) % 3));  // taps weigh 1, 2, 4
  }
  const SparseTensor y = subm_conv(x, weight);
  ASSERT_EQ(y.sites(), n);
  const auto* out = y.features.data<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    const float expected = i == 0 ? 6.0f : (i == n - 1 ? 3.0f : 7.0f);
    for (std::int64_t c = 0; c < 16; ++c) ASSERT_EQ(out[i * 16 + c], expected) << "row " << i;
  }
  const SparseTensor down = sparse_conv(x, weight, {{2}, {1}, {}, {}});
  EXPECT_EQ(down.sites(), (n + 1) / 2);
  const SparseTensor up = inverse_conv(down.with_features(Tensor::zeros({down.sites(), 4}, DType::kF32)),
                                       x.coordinates, weight, {{2}, {1}, {}, {}});
  EXPECT_EQ(up.sites(), n);
  EXPECT_EQ(max_pool(x, {2}, {{2}, {}, {}, {}}).sites(), n / 2);
}

TEST(Large, MoreThanTwoToThe19Rows) { check_line_of((1 << 19) + 1); }

TEST(Large, MoreThanTwoToThe21Rows) { check_line_of((1 << 21) + 1); }

// The first 2^24 + 1 sites of a sheet 4097 wide: row numbers and counts that f32 cannot tell apart. Row i
// holds i mod 251 in every channel; taps weigh 1 … 9, channels 1 … C, so that every sum is an exact integer.
TEST(Large, MoreThanTwoToThe24Rows) {
  if (std::getenv("AEROGEL_LONG_TESTS") == nullptr)
    GTEST_SKIP() << "takes 2 GB; make test-long sets AEROGEL_LONG_TESTS";
  const std::int64_t n = (1 << 24) + 1;
  const std::int64_t width = 4097;
  const Tensor indices = Tensor::empty({n, 3}, DType::kI32);
  for (std::int64_t i = 0; i < n; ++i) {
    auto* row = indices.mutable_data<std::int32_t>() + 3 * i;
    row[0] = 0;
    row[1] = static_cast<std::int32_t>(i / width);
    row[2] = static_cast<std::int32_t>(i % width);
  }
  const Coordinates sites = Coordinates::create(indices, {width, width}, 1);
  const auto expected = [&](std::int64_t i) {  // with one channel of weight 1
    std::int64_t sum = 0;
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      const std::int64_t x = i % width + tap % 3 - 1;
      const std::int64_t from = i + (tap / 3 - 1) * width + tap % 3 - 1;
      if (x >= 0 && x < width && from >= 0 && from < n) sum += (tap + 1) * (from % 251);
    }
    return sum;
  };
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    const Tensor features = Tensor::empty({n, channels}, DType::kF32);
    for (std::int64_t i = 0; i < n * channels; ++i) {
      features.mutable_data<float>()[i] = static_cast<float>(i / channels % 251);
    }
    const Tensor weight = Tensor::empty({1, 3, 3, channels}, DType::kF32);
    for (std::int64_t i = 0; i < 9 * channels; ++i) {
      weight.mutable_data<float>()[i] = static_cast<float>((i / channels + 1) * (i % channels + 1));
    }
    const SparseTensor out = subm_conv({features, sites}, weight);
    const std::int64_t total = channels * (channels + 1) / 2;
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(out.features.data<float>()[i], static_cast<float>(total * expected(i))) << "row " << i;
    }
  }
  EXPECT_EQ(sites.map_stats().builds, 1);
}

// Features past 2^31 bytes: 2^21 + 1 rows of 260 channels are 2.2 GB in and out. Row i holds i mod 97 in its
// last channel.
TEST(Large, FeaturesPastTwoToThe31Bytes) {
  if (std::getenv("AEROGEL_LONG_TESTS") == nullptr)
    GTEST_SKIP() << "takes 5 GB; make test-long sets AEROGEL_LONG_TESTS";
  const std::int64_t n = (1 << 21) + 1;
  const std::int64_t channels = 260;
  Tensor features = Tensor::zeros({n, channels}, DType::kF32);
  Tensor weight = Tensor::zeros({channels, channels}, DType::kF32);  // the last channel becomes the first
  weight.mutable_data<float>()[channels - 1] = 1.0f;
  for (std::int64_t i = 0; i < n; ++i) {
    features.mutable_data<float>()[i * channels + channels - 1] = static_cast<float>(i % 97);
  }
  ASSERT_GT(features.nbytes(), std::int64_t{1} << 31);
  const Tensor out = linear(features, weight);
  for (std::int64_t i = 0; i < n; ++i)
    ASSERT_EQ(out.data<float>()[i * channels], static_cast<float>(i % 97)) << i;
}

}  // namespace
}  // namespace aerogel::testing
