// What the verbs refuse, and that they say what was expected and what came.
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/ops/voxelize.h"

namespace aerogel {
namespace {

SparseTensor input(std::int64_t channels = 16) {
  return SparseTensor::create(
      Tensor::zeros({2, channels}, DType::kF32),
      Tensor::from<std::int32_t>({2, 4}, std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 1, 1}), {4, 4, 4}, 1);
}

Tensor zeros(const Dims& shape) { return Tensor::zeros(shape, DType::kF32); }

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

#define EXPECT_REFUSAL(call, text)                                                   \
  EXPECT_NE(refusal([&] { static_cast<void>(call); }).find(text), std::string::npos) \
      << refusal([&] { static_cast<void>(call); })

TEST(Refusals, ConvolutionShapes) {
  EXPECT_EQ(
      refusal([] {
        subm_conv(input(), zeros({64, 3, 3, 3, 32}));
      }),
      "[subm_conv] weight has C_in=32 but features have C=16 (weight [64, 3, 3, 3, 32], features [2, 16])");
  EXPECT_REFUSAL(subm_conv(input(), zeros({8, 3, 3, 16})), "2 kernel axes but the coordinates have 3");
  EXPECT_REFUSAL(subm_conv(input(), zeros({8, 2, 3, 3, 16})), "must be odd");
  EXPECT_REFUSAL(subm_conv(input(), zeros({8, 3, 3, 3, 16}), {{2, 2, 2}, {}, {}, {}}), "stride must be 1");
  EXPECT_REFUSAL(sparse_conv(input(), zeros({8, 7, 7, 7, 16})), "output extent");
  EXPECT_REFUSAL(subm_conv(input(), ConvWeight()), "undefined weight");
  EXPECT_REFUSAL(subm_conv({}, zeros({8, 3, 3, 3, 16})), "no coordinates");
  EXPECT_REFUSAL(subm_conv(input(), zeros({8, 3, 3, 3, 16}), {}, {.bias = zeros({7})}),
                 "bias must be f32 [8], got f32 [7]");
  EXPECT_REFUSAL(subm_conv(input(), zeros({8, 3, 3, 3, 16}), {}, {.residual = zeros({3, 8})}),
                 "residual must be f32 [2, 8], got f32 [3, 8]");
  const ConvOptions four{{}, {}, {}, {}, SiteRule::kReached, 4};
  EXPECT_REFUSAL(subm_conv(input(), zeros({8, 3, 3, 3, 16}), four),
                 "takes C=64 in 4 groups but features have C=16");
  EXPECT_REFUSAL(subm_conv(input(), zeros({6, 3, 3, 3, 4}), four),
                 "groups must be at least 1 and divide C_out=6");
  EXPECT_REFUSAL(linear(zeros({2, 16}), zeros({8, 3, 16})), "expected a weight [C_out, C_in]");
}

TEST(Refusals, InverseNeedsTheSitesOfThatLevel) {
  const SparseTensor fine = input();
  const ConvOptions options{{2, 2, 2}, {}, {}, {}};
  const SparseTensor coarse = sparse_conv(fine, zeros({16, 2, 2, 2, 16}), options);
  EXPECT_EQ(inverse_conv(coarse, fine.coordinates, zeros({8, 2, 2, 2, 16}), options).sites(), 2);
  EXPECT_REFUSAL(inverse_conv(coarse, fine.coordinates, zeros({8, 3, 3, 3, 16}), options),
                 "does not sit on the sites");
  EXPECT_REFUSAL(inverse_conv(fine, fine.coordinates, zeros({8, 2, 2, 2, 16}), options),
                 "does not sit on the sites");
}

TEST(Refusals, ElementwiseOnDifferentSets) {
  EXPECT_REFUSAL(add(input(), input()), "different coordinate sets");
  EXPECT_REFUSAL(add_union(input(4), input(5)), "must agree");
  const SparseTensor parts[] = {input(), input()};
  EXPECT_REFUSAL(concat(parts), "different coordinate sets");
  EXPECT_REFUSAL(concat({}), "at least one");
  EXPECT_REFUSAL(batch_norm(input(4), {zeros({4}), zeros({4}), zeros({3}), zeros({4})}),
                 "running_mean must be f32 [4]");
}

TEST(Refusals, VoxelizerNamesTheBadPoint) {
  Tensor points = zeros({3, 4});
  points.mutable_data<float>()[2 * 4 + 1] = std::nanf("");
  EXPECT_REFUSAL(voxelize_mean(points, {}), "row 2");
  EXPECT_REFUSAL(voxelize(points, {}, {}), "row 2");
  EXPECT_REFUSAL(voxelize_mean(zeros({3, 2}), {}), "need x, y, z");
  EXPECT_REFUSAL(voxelize(zeros({3, 4}), {}, {0, 5}), "caps");
  VoxelGrid grid;
  grid.size[1] = 0;
  EXPECT_REFUSAL(voxelize_mean(zeros({3, 4}), grid), "axis y");
  grid.size[1] = 1e-30f;
  EXPECT_REFUSAL(voxelize_mean(zeros({3, 4}), grid), "axis y");
}

TEST(Refusals, DevoxelizeChecksIds) {
  EXPECT_REFUSAL(
      devoxelize_nearest(zeros({2, 3}), Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{2})),
      "point 0 has voxel id 2, expected -1 to 1");
}

TEST(Refusals, TensorsOfADryRunHaveNoDataToComputeWith) {
  ExecOptions dry;
  dry.dry_run = true;
  const Tensor weight = zeros({8, 3, 3, 3, 16});
  const SparseTensor sized = subm_conv(input(), weight, {}, {}, dry);
  EXPECT_REFUSAL(subm_conv(sized, zeros({8, 3, 3, 3, 8})), "no data");
  EXPECT_REFUSAL(relu(sized), "no data");
  EXPECT_REFUSAL(subm_conv(input(), weight, {}, {.bias = Tensor::empty({8}, DType::kF32, dry)}), "no data");
  EXPECT_REFUSAL(Coordinates::create(Tensor::empty({3, 4}, DType::kI32, dry), {4, 4, 4}, 1), "no data");
  const int swapped[] = {1, 0};  // a view inside a dry run is legal
  const Tensor view = Tensor::empty({16, 2}, DType::kF32, dry).permute(swapped);
  EXPECT_EQ(subm_conv({view, input().coordinates}, weight, {}, {}, dry).features.str(), "f32 [2, 8]");
}

TEST(Refusals, AGeometryThatMakeDidNotCheck) {
  KernelSpec spec = KernelSpec::make(ConvKind::kRegular, {3, 3, 3});
  spec.stride = {0, 0, 0};
  EXPECT_REFUSAL(build_kernel_map(input().coordinates, spec), "stride must be at least 1");
  spec = KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3});
  spec.kernel = {2, 2, 2};
  EXPECT_REFUSAL(build_kernel_map(input().coordinates, spec), "must be odd");
  spec = KernelSpec::make(ConvKind::kRegular, {3, 3, 3});
  spec.padding = {};
  EXPECT_REFUSAL(build_kernel_map(input().coordinates, spec), "incomplete geometry");
}

TEST(Refusals, ThreadsFarPastTheCoresCostNothing) {
  ExecOptions exec;
  exec.threads = 2147483647;
  exec.meter = std::make_shared<MemoryMeter>();
  EXPECT_EQ(subm_conv(input(), zeros({8, 3, 3, 3, 16}), {}, {}, exec).sites(), 2);
  EXPECT_LT(exec.meter->peak_bytes(), 64 << 20);
}

TEST(Refusals, ADryRunCannotSizeDataDependentOps) {
  ExecOptions exec;
  exec.dry_run = true;
  EXPECT_REFUSAL(voxelize_mean(zeros({1, 3}), {}, exec), "dry run");
  EXPECT_REFUSAL(from_dense(zeros({1, 2, 2}), DenseLayout::kChannelsLast, exec), "dry run");
}

}  // namespace
}  // namespace aerogel
