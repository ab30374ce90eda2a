// Pools, affine, moments, sums and copies of rows: NaN, empty inputs, thread counts and every channel
// remainder.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/op_kernels.h"
#include "unit/backend/literals.h"

namespace aerogel {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor pattern(std::int64_t rows, std::int64_t channels) {
  Tensor result = Tensor::empty({rows, channels}, DType::kF32);
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    result.mutable_data<float>()[i] = static_cast<float>(std::sin(static_cast<double>(i) * 0.7));
  }
  return result;
}
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.nbytes() == b.nbytes() &&
         (a.nbytes() == 0 || std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.nbytes())) == 0);
}

/// Two sites, both feeding output 0 through offset 1, site 1 feeding output 1 through offset 0; output 2 has
/// no pair.
KernelMap small_map() {
  KernelMap map;
  map.n_in = 2;
  map.n_out = 3;
  map.in_rows = Tensor::from<std::int32_t>({3}, std::vector<std::int32_t>{1, 0, 1});
  map.out_rows = Tensor::from<std::int32_t>({3}, std::vector<std::int32_t>{0, 0, 1});
  map.offset_begin = Tensor::from<std::int64_t>({3}, std::vector<std::int64_t>{0, 1, 3});
  return map;
}

TEST(PoolPairList, MaximumAverageAndSitesWithoutPairs) {
  const KernelMap map = small_map();
  const Tensor in = floats({2, 2}, {-1, -2, -3, 4});
  Tensor out = Tensor::empty({3, 2}, DType::kF32);
  cpu::kPoolPairList.run({PoolKind::kMax, -kInf, &map, in, out, 1});
  EXPECT_EQ(values<float>(out), (std::vector<float>{-1, 4, -3, 4, -kInf, -kInf}));
  cpu::kPoolPairList.run({PoolKind::kMax, 0, &map, in, out, 1});
  EXPECT_EQ(values<float>(out), (std::vector<float>{0, 4, 0, 4, 0, 0}));
  cpu::kPoolPairList.run({PoolKind::kAvg, 0, &map, in, out, 1});
  EXPECT_EQ(values<float>(out), (std::vector<float>{-2, 1, -3, 4, 0, 0}));
  cpu::kPoolPairList.run({PoolKind::kSum, 0, &map, in, out, 1});
  EXPECT_EQ(values<float>(out), (std::vector<float>{-4, 2, -3, 4, 0, 0}));
}

TEST(PoolPairList, NanPropagatesFromAnyPair) {
  const KernelMap map = small_map();
  for (int row : {0, 1}) {
    for (PoolKind kind : {PoolKind::kMax, PoolKind::kAvg, PoolKind::kSum}) {
      Tensor in = pattern(2, 19);
      for (int c = 0; c < 19; ++c) in.mutable_data<float>()[row * 19 + c] = kNan;
      Tensor out = Tensor::empty({3, 19}, DType::kF32);
      cpu::kPoolPairList.run({kind, -kInf, &map, in, out, 1});
      for (int c = 0; c < 19; ++c) EXPECT_TRUE(std::isnan(out.data<float>()[c]));
    }
  }
}

TEST(GlobalPoolRowParts, ScatteredRowsAndItemsWithoutSites) {
  const Tensor indices = Tensor::from<std::int32_t>({3, 2}, std::vector<std::int32_t>{2, 5, 0, 1, 2, 0});
  const Coordinates sites = Coordinates::create(indices, {8}, 3);
  const Tensor in = floats({3, 1}, {1, -7, 4});
  Tensor out = Tensor::empty({3, 1}, DType::kF32);
  cpu::kGlobalPoolRowParts.run({PoolKind::kMax, -kInf, sites, in, out, 1});
  EXPECT_EQ(values<float>(out), (std::vector<float>{-7, -kInf, 4}));
  cpu::kGlobalPoolRowParts.run({PoolKind::kAvg, 0, sites, in, out, 1});
  EXPECT_EQ(values<float>(out), (std::vector<float>{-7, 0, 2.5f}));
  const Coordinates none = Coordinates::create(Tensor::empty({0, 2}, DType::kI32), {8}, 3);
  cpu::kGlobalPoolRowParts.run({PoolKind::kAvg, 0, none, Tensor::empty({0, 1}, DType::kF32), out, 1});
  EXPECT_EQ(values<float>(out), (std::vector<float>{0, 0, 0}));
}

TEST(AffineRowLoop, EveryCombinationAndChannelCountInPlaceToo) {
  for (std::int64_t channels : {1, 3, 8, 16, 17, 35}) {
    for (int parts = 0; parts < 16; ++parts) {
      const Tensor in = pattern(7, channels);
      AffineArgs args{in};
      if (parts & 1) args.scale = pattern(1, channels).reshape({channels});
      if (parts & 2) args.shift = pattern(2, channels).slice_rows(1, 2).reshape({channels});
      if (parts & 4) args.residual = pattern(9, channels).slice_rows(2, 9);
      if (parts & 8) args.activation = Activation::kRelu;
      args.out = in.clone();
      args.in = args.out;
      cpu::kAffineRowLoop.run(args);
      for (std::int64_t i = 0; i < in.numel(); ++i) {
        double expected = in.data<float>()[i];
        if (parts & 1) expected *= args.scale.data<float>()[i % channels];
        if (parts & 2) expected += args.shift.data<float>()[i % channels];
        if (parts & 4) expected += args.residual.data<float>()[i];
        if (parts & 8 && expected < 0) expected = 0;
        ASSERT_NEAR(args.out.data<float>()[i], expected, 3e-7);
      }
    }
  }
}

TEST(AffineRowLoop, ReluKeepsNan) {
  AffineArgs args{floats({1, 2}, {kNan, -1})};
  args.activation = Activation::kRelu;
  args.out = Tensor::empty({1, 2}, DType::kF32);
  cpu::kAffineRowLoop.run(args);
  EXPECT_TRUE(std::isnan(args.out.data<float>()[0]));
  EXPECT_EQ(args.out.data<float>()[1], 0);
}

TEST(MomentsTwoPass, CloseToTheDefinitionAndTheSameForAnyThreadCount) {
  const std::int64_t rows = 9001;
  const std::int64_t channels = 19;
  const Tensor in = pattern(rows, channels);
  Tensor mean[2], var[2];
  for (int i : {0, 1}) {
    mean[i] = Tensor::empty({channels}, DType::kF64);
    var[i] = Tensor::empty({channels}, DType::kF64);
    cpu::kMomentsTwoPass.run({in, mean[i], var[i], i == 0 ? 1 : 4});
  }
  EXPECT_TRUE(same_bits(mean[0], mean[1]));
  EXPECT_TRUE(same_bits(var[0], var[1]));
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (std::int64_t n = 0; n < rows; ++n) sum += in.data<float>()[n * channels + c];
    for (std::int64_t n = 0; n < rows; ++n)
      squares += std::pow(in.data<float>()[n * channels + c] - sum / rows, 2);
    EXPECT_NEAR(mean[0].data<double>()[c], sum / rows, 1e-14);
    EXPECT_NEAR(var[0].data<double>()[c], squares / rows, 1e-14);
  }
}

TEST(RowCopies, ConcatGatherAndScatterAdd) {
  Tensor out = Tensor::empty({2, 3}, DType::kF32);
  cpu::kConcatRowCopy.run(
      {{floats({2, 1}, {1, 2}), Tensor::empty({2, 0}, DType::kF32), floats({2, 2}, {3, 4, 5, 6})}, out, 2});
  EXPECT_EQ(values<float>(out), (std::vector<float>{1, 3, 4, 2, 5, 6}));
  const Tensor ids = Tensor::from<std::int64_t>({3}, std::vector<std::int64_t>{1, -1, 0});
  Tensor gathered = Tensor::empty({3, 2}, DType::kF32);
  cpu::kGatherRowsRowCopy.run({floats({2, 2}, {1, 2, 3, 4}), ids, gathered, 2});
  EXPECT_EQ(values<float>(gathered), (std::vector<float>{3, 4, 0, 0, 1, 2}));
  const Tensor rows_a = Tensor::from<std::int32_t>({2}, std::vector<std::int32_t>{2, 0});
  const Tensor rows_b = Tensor::from<std::int32_t>({1}, std::vector<std::int32_t>{2});
  Tensor sum = Tensor::empty({4, 1}, DType::kF32);
  cpu::kScatterAddPartByPart.run({{floats({2, 1}, {1, 2}), floats({1, 1}, {10})}, {rows_a, rows_b}, sum, 2});
  EXPECT_EQ(values<float>(sum), (std::vector<float>{2, 0, 11, 0}));
}

TEST(RowOps, NoRowsIsLegal) {
  const Tensor none = Tensor::empty({0, 5}, DType::kF32);
  KernelMap map;
  map.in_rows = map.out_rows = Tensor::empty({0}, DType::kI32);
  map.offset_begin = Tensor::zeros({28}, DType::kI64);
  cpu::kPoolPairList.run({PoolKind::kMax, 0, &map, none, none, 2});
  AffineArgs affine{none};
  affine.out = none;
  cpu::kAffineRowLoop.run(affine);
  cpu::kConcatRowCopy.run({{none}, none, 2});
  cpu::kGatherRowsRowCopy.run({none, Tensor::empty({0}, DType::kI64), none, 2});
  cpu::kScatterAddPartByPart.run({{none}, {Tensor::empty({0}, DType::kI32)}, none, 2});
}

}  // namespace
}  // namespace aerogel
