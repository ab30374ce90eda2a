#include "aerogel/ops/elementwise.h"

#include "aerogel/ops/voxelize.h"

#include "plan/choose.h"
#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

TEST(ByHand, AffineInItsOrder) {
  on_both_backends([](const ExecOptions& exec) {
    const Affine by{floats({2}, {2, -3}), floats({2}, {1, 5}), floats({2, 2}, {10, 1, -4, 0}),
                    Activation::kRelu};
    //   in 1 2 | 0 1    · scale  2 −6 | 0 −3    + shift  3 −1 | 1 2    + residual  13 0 | −3 2
    EXPECT_EQ(values<float>(affine(floats({2, 2}, {1, 2, 0, 1}), by, exec)), (Floats{13, 0, 0, 2}));
  });
}

TEST(ByHand, BatchNormOfRunningStatistics) {
  on_both_backends([](const ExecOptions& exec) {
    // (x − 3) / √(3.75 + 0.25) · 2 + 1 = x − 2
    const BatchNorm norm{floats({1}, {2}), floats({1}, {1}), floats({1}, {3}), floats({1}, {3.75}), 0.25};
    EXPECT_EQ(values<float>(batch_norm(line({1, 5, -8}), norm, exec).features), (Floats{-1, 3, -10}));
  });
}

TEST(ByHand, BatchNormOfTheseSites) {
  on_both_backends([](const ExecOptions& exec) {
    // mean (1 + 5) / 2 = 3, biased variance (4 + 4) / 2 = 4 (unbiased it would be 8): (x − 3) / √(4 + 5) · 3
    // + 1
    const SparseTensor in{floats({2, 1}, {1, 5}), sites({0, 0, 0, 3}, {5}, 1)};
    const Tensor unused = floats({1}, {100});
    const BatchNorm norm{floats({1}, {3}), floats({1}, {1}), unused, unused, 5};
    EXPECT_EQ(values<float>(batch_norm_train(in, norm, exec).features), (Floats{-1, 3}));
  });
}

TEST(ByHand, Moments) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    const Tensor mean = Tensor::empty({2}, DType::kF64);
    const Tensor var = Tensor::empty({2}, DType::kF64);
    // 1, 5, 6, 0 → mean 3, squares 4 + 4 + 9 + 9 = 26;   0, 8, 0, 8 → mean 4, squares 4 · 16
    tables_of(backend).moments[0].run({floats({4, 2}, {1, 0, 5, 8, 6, 0, 0, 8}), mean, var, 1});
    EXPECT_EQ(values<double>(mean), (std::vector<double>{3, 4}));
    EXPECT_EQ(values<double>(var), (std::vector<double>{6.5, 16}));
  }
}

TEST(ByHand, Concatenation) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor first = line({1, 2, 3});
    const SparseTensor parts[] = {first, first.with_features(floats({3, 2}, {4, 5, 6, 7, 8, 9}))};
    EXPECT_EQ(values<float>(concat(parts, exec).features), (Floats{1, 4, 5, 2, 6, 7, 3, 8, 9}));
  });
}

TEST(ByHand, SumOverTheUnionOfSites) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor a{floats({2, 1}, {1, 2}), sites({0, 0, 0, 3}, {5}, 1)};
    const SparseTensor b{floats({2, 1}, {10, 20}), sites({0, 3, 0, 1}, {5}, 1)};  // not sorted
    const SparseTensor sum = add_union(a, b, exec);
    EXPECT_EQ(values<std::int32_t>(sum.coordinates.indices()), (Ints{0, 0, 0, 1, 0, 3}));
    EXPECT_EQ(values<float>(sum.features), (Floats{1, 20, 2 + 10}));
  });
}

TEST(ByHand, RowsByVoxel) {
  on_both_backends([](const ExecOptions& exec) {
    const Tensor ids = Tensor::from<std::int64_t>({4}, Longs{1, -1, 0, 1});
    EXPECT_EQ(values<float>(devoxelize_nearest(floats({2, 2}, {1, 2, 3, 4}), ids, exec)),
              (Floats{3, 4, 0, 0, 1, 2, 3, 4}));
  });
}

}  // namespace
}  // namespace aerogel
