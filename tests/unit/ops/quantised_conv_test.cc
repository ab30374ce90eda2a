// int8 convolutions by hand: exact sums, scales, the epilogue between them, rounding and saturation.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/plan.h"

namespace aerogel {
namespace {

Tensor i8(const Dims& shape, const std::vector<std::int8_t>& values) {
  return Tensor::from<std::int8_t>(shape, values);
}
Tensor f32(const Dims& shape, const std::vector<float>& values) { return Tensor::from<float>(shape, values); }

/// Two channels on sites 0 and 1 of a line of 3 cells.
SparseTensor line() {
  return SparseTensor::create(i8({2, 2}, {1, -2, 100, 127}),
                              Tensor::from<std::int32_t>({2, 2}, std::vector<std::int32_t>{0, 0, 0, 1}), {3},
                              1);
}

/// [C_out = 2, K = 3, C_in = 2]
Tensor weight() { return i8({2, 3, 2}, {1, 1, 3, 4, 5, 6, -128, -128, 0, 1, 127, 127}); }

Epilogue scaled(float in_scale, const std::vector<float>& weight_scale, float out_scale = 0) {
  Epilogue epilogue;
  epilogue.quantization = {in_scale, f32({static_cast<std::int64_t>(weight_scale.size())}, weight_scale),
                           out_scale};
  return epilogue;
}

class QuantisedConv : public ::testing::TestWithParam<Backend> {
 protected:
  QuantisedConv() {
    exec.backend = GetParam();
    exec.observer = [this](const OpRecord& given) { record = given; };
  }
  ExecOptions exec;
  OpRecord record;
};
INSTANTIATE_TEST_SUITE_P(Backends, QuantisedConv, ::testing::Values(Backend::kReference, Backend::kCpu));

// Site 0: 3·1 + 4·(−2) + 5·100 + 6·127 = 1257 and −2 + 127·227 = 28827.
// Site 1: 1 − 2 + 300 + 508 = 807 and −128·(−1) + 127 = 255.
TEST_P(QuantisedConv, SumsAreExactAndScaledPerChannel) {
  const Tensor out = subm_conv(line(), weight(), {}, scaled(1, {1, 1}), exec).features;
  EXPECT_EQ(out.dtype(), DType::kF32);
  EXPECT_EQ(std::vector<float>(out.data<float>(), out.data<float>() + 4),
            (std::vector<float>{1257, 28827, 807, 255}));
  const Tensor half = subm_conv(line(), weight(), {}, scaled(0.5, {2, 0.5}), exec).features;
  EXPECT_EQ(std::vector<float>(half.data<float>(), half.data<float>() + 4),
            (std::vector<float>{1257, 28827 / 4.0f, 807, 255 / 4.0f}));
  EXPECT_NE(record.kernel.find("/i8"), std::string::npos) << record.kernel;
  EXPECT_NE(record.problem.find("dtype=i8"), std::string::npos);
}

TEST_P(QuantisedConv, TheEpilogueStandsBetweenTheScales) {
  Epilogue epilogue = scaled(1, {1, 1}, 10);
  epilogue.bias = f32({2}, {-1262, -28852});         // −5, −25; −455, −28597
  epilogue.scale = f32({2}, {1, -1});                // −5, 25; −455, 28597
  epilogue.residual = f32({2, 2}, {0, 0, 2000, 0});  // −5, 25; 1545, 28597
  const SparseTensor out = subm_conv(line(), weight(), {}, epilogue, exec);
  EXPECT_EQ(out.features.dtype(), DType::kI8);
  const auto* values = out.features.data<std::int8_t>();
  EXPECT_EQ(std::vector<int>(values, values + 4),
            (std::vector<int>{0, 2, 127, 127}));  // −0.5 and 2.5 to even
  EXPECT_NE(record.problem.find("requantise"), std::string::npos);
  epilogue.residual = {};
  epilogue.activation = Activation::kRelu;
  const Tensor rectified = subm_conv(line(), weight(), {}, epilogue, exec).features;
  EXPECT_EQ(std::vector<int>(rectified.data<std::int8_t>(), rectified.data<std::int8_t>() + 4),
            (std::vector<int>{0, 2, 0, 127}));
  epilogue.activation = Activation::kNone;
  const Tensor plain = subm_conv(line(), weight(), {}, epilogue, exec).features;
  EXPECT_EQ(plain.data<std::int8_t>()[2], -46);  // −45.5 to even
}

TEST_P(QuantisedConv, LinearAndLongSumsOfTheLargestNumbers) {
  constexpr std::int64_t kChannels = 4097;
  const Tensor in = i8({1, kChannels}, std::vector<std::int8_t>(kChannels, -128));
  const Tensor out = linear(in, in, scaled(1, {1}), exec);
  EXPECT_EQ(out.data<float>()[0], 4097 * 16384.0f);
}

TEST_P(QuantisedConv, NotANumberBecomesZero) {
  Epilogue epilogue = scaled(1, {1, 1}, 1);
  epilogue.shift = f32({2}, {std::numeric_limits<float>::quiet_NaN(), -1e30f});
  const Tensor out = subm_conv(line(), weight(), {}, epilogue, exec).features;
  EXPECT_EQ(out.data<std::int8_t>()[0], 0);
  EXPECT_EQ(out.data<std::int8_t>()[1], -128);
}

TEST(QuantisedConvRefuses, WhatDoesNotFit) {
  EXPECT_THROW(subm_conv(line(), weight()), InvalidArgument);  // no scales
  EXPECT_THROW(subm_conv(line(), weight(), {}, scaled(1, {1})),
               InvalidArgument);  // one scale for two channels
  EXPECT_THROW(subm_conv(line(), weight(), {}, scaled(-1, {1, 1})), InvalidArgument);
  EXPECT_THROW(subm_conv(line(), weight(), {}, scaled(1, {1, 1}, -2)), InvalidArgument);
  EXPECT_THROW(subm_conv(line(), weight().to(DType::kF32), {}, scaled(1, {1, 1})), InvalidArgument);
  const SparseTensor wide = line().with_features(line().features.to(DType::kF32));
  EXPECT_THROW(subm_conv(wide, weight().to(DType::kF32), {}, scaled(1, {1, 1})), InvalidArgument);
}

TEST(QuantisedConvFallsBack, WhereSumsCouldLeave32Bits) {
  ConvProblem problem;
  problem.spec = KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3});
  problem.c_in = 5000;  // 27 · 5000 > 2^31 / 2^14
  problem.c_out = 8;
  problem.dtype = DType::kI8;
  EXPECT_EQ(plan_sparse_conv(problem).kernel, "reference/sparse_conv/pair_loop/i8");
  problem.c_in = 4800;
  EXPECT_EQ(plan_sparse_conv(problem).kernel, "cpu/sparse_conv/implicit_gemm/i8");
}

}  // namespace
}  // namespace aerogel
