// Convolutions of every kind with kernels that no flip or transposition leaves alike. One line of sites, taps
// that weigh 1, 10 and 100: each digit of a result says which site came through which tap.
#include "aerogel/ops/convolution.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

ConvWeight one_ten_hundred() { return floats({1, 3, 1}, {1, 10, 100}); }
const ConvOptions kHalf{{2}, {1}, {}, {}};  // stride 2, padding 1

TEST(ByHand, SubmanifoldConvolution) {
  on_both_backends([](const ExecOptions& exec) {
    // out[x] = 1 · in[x − 1] + 10 · in[x] + 100 · in[x + 1]
    const SparseTensor out = subm_conv(line({1, 2, 5}), one_ten_hundred(), {}, {}, exec);
    EXPECT_EQ(values<float>(out.features), (Floats{10 * 1 + 100 * 2, 1 * 1 + 10 * 2, 10 * 5}));
    EXPECT_EQ(values<std::int32_t>(out.coordinates.indices()), (Ints{0, 0, 0, 1, 0, 3}));
  });
}

TEST(ByHand, SubmanifoldConvolutionInTwoDimensions) {
  on_both_backends([](const ExecOptions& exec) {
    //   y\x  0 1      weight of (dy, dx)   1 2 3
    //    0   1 2                           4 5 6
    //    1   4 ·                           7 8 9
    const SparseTensor in{floats({3, 1}, {1, 2, 4}), sites({0, 0, 0, 0, 0, 1, 0, 1, 0}, {2, 2}, 1)};
    const ConvWeight weight = floats({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const SparseTensor out = subm_conv(in, weight, {}, {}, exec);
    EXPECT_EQ(values<float>(out.features),
              (Floats{5 * 1 + 6 * 2 + 8 * 4, 4 * 1 + 5 * 2 + 7 * 4, 2 * 1 + 3 * 2 + 5 * 4}));
  });
}

TEST(ByHand, ItemsOfABatchDoNotMeet) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in{floats({2, 1}, {1, 2}), sites({0, 2, 1, 3}, {5}, 2)};
    const SparseTensor out = subm_conv(in, one_ten_hundred(), {}, {}, exec);
    EXPECT_EQ(values<float>(out.features), (Floats{10, 20}));
  });
}

TEST(ByHand, RegularConvolutionOfStrideTwo) {
  on_both_backends([](const ExecOptions& exec) {
    // fine = 2 · coarse + tap − 1, extent (5 + 2 − 2 − 1) / 2 + 1 = 3
    //   coarse 0 reads fine −1, 0, 1    coarse 1 reads 1, 2, 3    coarse 2 reads 3, 4, 5
    const SparseTensor out = sparse_conv(line({1, 2, 5}), one_ten_hundred(), kHalf, {}, exec);
    EXPECT_EQ(values<float>(out.features), (Floats{10 * 1 + 100 * 2, 1 * 2 + 100 * 5, 1 * 5}));
    EXPECT_EQ(values<std::int32_t>(out.coordinates.indices()), (Ints{0, 0, 0, 1, 0, 2}));
    EXPECT_EQ(out.coordinates.spatial_shape(), Dims{3});
  });
}

TEST(ByHand, RegularConvolutionWritesReachedSitesOnly) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in{floats({1, 1}, {7}),
                          sites({0, 4}, {5}, 1)};  // only coarse 2 reads fine 4, by tap 1
    const SparseTensor out = sparse_conv(in, one_ten_hundred(), kHalf, {}, exec);
    EXPECT_EQ(values<float>(out.features), Floats{70});
    EXPECT_EQ(values<std::int32_t>(out.coordinates.indices()), (Ints{0, 2}));
  });
}

TEST(ByHand, DilatedConvolution) {
  on_both_backends([](const ExecOptions& exec) {
    // Taps two apart: out[x] = 1 · in[x − 2] + 10 · in[x] + 100 · in[x + 2]; only 1 and 3 see each other.
    const SparseTensor out = subm_conv(line({1, 2, 5}), one_ten_hundred(), {{}, {}, {2}, {}}, {}, exec);
    EXPECT_EQ(values<float>(out.features), (Floats{10, 10 * 2 + 100 * 5, 1 * 2 + 10 * 5}));
  });
}

TEST(ByHand, TransposedConvolution) {
  on_both_backends([](const ExecOptions& exec) {
    // out = 2 · in − 1 + tap, extent (3 − 1) · 2 − 2 + 2 + 1 + 1 = 6
    //   in 0 writes −1 (outside), 0, 1    in 1 writes 1, 2, 3
    const SparseTensor in{floats({2, 1}, {1, 2}), sites({0, 0, 0, 1}, {3}, 1)};
    const SparseTensor out = transposed_conv(in, one_ten_hundred(), {{2}, {1}, {}, {1}}, {}, exec);
    EXPECT_EQ(values<float>(out.features), (Floats{10 * 1, 100 * 1 + 1 * 2, 10 * 2, 100 * 2}));
    EXPECT_EQ(values<std::int32_t>(out.coordinates.indices()), (Ints{0, 0, 0, 1, 0, 2, 0, 3}));
    EXPECT_EQ(out.coordinates.spatial_shape(), Dims{6});
  });
}

TEST(ByHand, InverseConvolution) {
  on_both_backends([](const ExecOptions& exec) {
    // The pairs of RegularConvolutionOfStrideTwo with both sides swapped:
    //   fine 0 ← coarse 0 by tap 1    fine 1 ← 0 by 2, 1 by 0    fine 3 ← 1 by 2, 2 by 0
    const SparseTensor fine = line({0, 0, 0});
    const SparseTensor coarse = sparse_conv(fine, one_ten_hundred(), kHalf, {}, exec);
    const SparseTensor out = inverse_conv(coarse.with_features(floats({3, 1}, {1, 2, 5})), fine.coordinates,
                                          one_ten_hundred(), kHalf, {}, exec);
    EXPECT_EQ(values<float>(out.features), (Floats{10 * 1, 100 * 1 + 1 * 2, 100 * 2 + 1 * 5}));
    EXPECT_EQ(out.coordinates, fine.coordinates);
  });
}

TEST(ByHand, ChannelsAndOffsetsOfTheWeight) {
  on_both_backends([](const ExecOptions& exec) {
    // weight [C_out = 2, k = 3, C_in = 2]; sites 0 and 1 with (1, 2) and (3, 4).
    const SparseTensor in{floats({2, 2}, {1, 2, 3, 4}), sites({0, 0, 0, 1}, {2}, 1)};
    const ConvWeight weight = floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -7});
    const SparseTensor out = subm_conv(in, weight, {}, {}, exec);
    // site 0: centre (3, 4)·(1, 2) + right (5, 6)·(3, 4);   site 1: left (1, 2)·(1, 2) + centre (3, 4)·(3, 4)
    EXPECT_EQ(values<float>(out.features), (Floats{11 + 39, -11 - 43, 5 + 25, -5 - 25}));
  });
}

TEST(ByHand, LinearAndTheOrderOfTheEpilogue) {
  on_both_backends([](const ExecOptions& exec) {
    const Tensor in = floats({2, 2}, {1, -2, 2, 1});
    const ConvWeight weight = floats({2, 2}, {3, 5, -1, 4});
    EXPECT_EQ(values<float>(linear(in, weight, {}, exec)), (Floats{-7, -9, 11, 2}));
    Epilogue epilogue;
    epilogue.bias = floats({2}, {1, 2});                 // −6 −7   12  4
    epilogue.scale = floats({2}, {2, -1});               // −12 7   24 −4
    epilogue.shift = floats({2}, {1, 1});                // −11 8   25 −3
    epilogue.residual = floats({2, 2}, {4, -3, 1, 10});  // −7  5   26  7
    epilogue.activation = Activation::kRelu;
    EXPECT_EQ(values<float>(linear(in, weight, epilogue, exec)), (Floats{0, 5, 26, 7}));
  });
}

}  // namespace
}  // namespace aerogel
