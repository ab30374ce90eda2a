// f16 and bf16 features through the public verbs: dtypes in and out, one rounding, what is refused, and
// memory.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/ops/voxelize.h"
#include "aerogel/plan.h"

namespace aerogel {
namespace {

std::vector<float> values(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::kF32);
  return {wide.data<float>(), wide.data<float>() + wide.numel()};
}

Tensor numbers(const Dims& shape, const std::vector<float>& values, DType dtype) {
  return Tensor::from<float>(shape, values).to(dtype);
}

/// One channel on sites 0, 1 and 2 of a line.
SparseTensor line(const std::vector<float>& features, DType dtype) {
  return SparseTensor::create(numbers({3, 1}, features, dtype),
                              Tensor::from<std::int32_t>({3, 2}, std::vector<std::int32_t>{0, 0, 0, 1, 0, 2}),
                              {3}, 1);
}

TEST(HalfFeatures, ConvolutionsSumInF32AndRoundOnce) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    ExecOptions exec;
    exec.backend = backend;
    // bf16 has 8 bits: 256 + 1 is a tie that a sum in bf16 would lose three times over.
    const SparseTensor x = line({1, 256, 1}, DType::kBF16);
    const Tensor ones = numbers({1, 3, 1}, {1, 1, 1}, DType::kBF16);
    const SparseTensor out = subm_conv(x, ones, {}, {}, exec);
    EXPECT_EQ(out.features.dtype(), DType::kBF16);
    EXPECT_EQ(values(out.features), (std::vector<float>{256, 258, 256}));  // 257 ties to even, 258 does not
    // A bias in f32 or bf16, before the rounding.
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const Epilogue bias{.bias = numbers({1}, {1}, dtype)};
      EXPECT_EQ(values(subm_conv(x, ones, {}, bias, exec).features),
                (std::vector<float>{258, 260, 258}));  // 259 ties
    }
    const SparseTensor half = line({1, 2048, 1}, DType::kF16);
    EXPECT_EQ(values(sum_pool(half, {3}, {}, PoolSites::kSubmanifold, exec).features),
              (std::vector<float>{2048, 2050, 2048}));
    EXPECT_EQ(values(linear(half.features, numbers({2, 1}, {1, -0.5}, DType::kF16), {}, exec)),
              (std::vector<float>{1, -0.5, 2048, -1024, 1, -0.5}));
  }
}

TEST(HalfFeatures, EveryOpKeepsTheDtype) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
      ExecOptions exec;
      exec.backend = backend;
      const SparseTensor x = line({1, -2, 3}, dtype);
      const SparseTensor other = line({1, -2, 3}, dtype);  // equal sites, another set
      const Tensor one = numbers({1}, {1}, DType::kF32);
      const std::vector<float> as_is{1, -2, 3};
      const auto check = [&](const Tensor& got, const std::vector<float>& expected) {
        EXPECT_EQ(got.dtype(), dtype);
        EXPECT_EQ(values(got), expected);
      };
      check(relu(x, exec).features, {1, 0, 3});
      check(add(x, x, exec).features, {2, -4, 6});
      check(add_union(x, other, exec).features, {2, -4, 6});
      const SparseTensor parts[] = {x, x};
      check(concat(parts, exec).features, {1, 1, -2, -2, 3, 3});
      check(batch_norm(x, {one, one, one, one, 0}, exec).features, {1, -2, 3});
      check(batch_norm_train(line({-1, 0, 1}, dtype), {one, one, {}, {}, 1.0 / 3}, exec).features, {0, 1, 2});
      check(max_pool(x, {3}, {}, PoolSites::kSubmanifold, MaxIdentity::kNegativeInfinity, exec).features,
            {1, 3, 3});
      check(global_max_pool(x, exec), {3});
      check(global_sum_pool(x, exec), {2});
      const Tensor dense = to_dense(x, DenseLayout::kChannelsLast, exec);
      check(dense, as_is);
      check(from_dense(dense, DenseLayout::kChannelsLast, exec).features, as_is);
      check(devoxelize_nearest(x.features, Tensor::from<std::int64_t>({2}, std::vector<std::int64_t>{2, -1}),
                               exec),
            {3, 0});
      const Tensor points = numbers({2, 4}, {0.25, 0.5, 0.5, 4, 0.75, 0.5, 0.5, 8}, dtype);
      check(voxelize_mean(points, {}, exec).voxels.features, {0.5, 0.5, 0.5, 6});
    }
  }
}

TEST(HalfFeatures, OneDtypeForAll) {
  const SparseTensor x = line({1, 2, 3}, DType::kF16);
  const Tensor weight = numbers({1, 3, 1}, {1, 1, 1}, DType::kF16);
  EXPECT_THROW(subm_conv(x, weight.to(DType::kF32)), InvalidArgument);
  EXPECT_THROW(subm_conv(x, weight, {}, {.residual = numbers({3, 1}, {1, 2, 3}, DType::kF32)}),
               InvalidArgument);
  EXPECT_THROW(subm_conv(x, weight, {}, {.bias = numbers({1}, {1}, DType::kBF16)}), InvalidArgument);
  EXPECT_THROW(add(x, x.with_features(x.features.to(DType::kF32))), InvalidArgument);
  EXPECT_THROW(voxelize(numbers({1, 3}, {0, 0, 0}, DType::kF16), {}, {}), InvalidArgument);
}

TEST(HalfFeatures, TheWorkspaceDoesNotGrowWithTheSites) {
  const auto workspace = [](std::int64_t n, DType dtype) {
    ConvProblem problem;
    problem.spec = KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3});
    problem.n_in = problem.n_out = n;
    problem.c_in = problem.c_out = 64;
    problem.dtype = dtype;
    ExecOptions exec;
    exec.threads = 4;
    return plan_sparse_conv(problem, exec).workspace_bytes;
  };
  EXPECT_EQ(workspace(1 << 20, DType::kBF16), workspace(1 << 24, DType::kBF16));
  EXPECT_LE(workspace(1 << 20, DType::kBF16), workspace(1 << 20, DType::kF32) + 4 * (40 << 10));
}

}  // namespace
}  // namespace aerogel
