// Checkpoints there and back between all pairs of layouts, what is renamed, and what is refused.
#include <algorithm>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/weight_layout.h"

#include "conformance/generate.h"
#include "shared_data.h"

namespace aerogel::nn {
namespace {

using State = std::map<std::string, Tensor>;

constexpr WeightLayout kAll[] = {WeightLayout::kCanonical,  WeightLayout::kSpconv1, WeightLayout::kSpconv20,
                                 WeightLayout::kTorch,      WeightLayout::kMlx,     WeightLayout::kMinkowski,
                                 WeightLayout::kTorchSparse};

std::string kernel_leaf(WeightLayout layout) {
  const bool kernel = layout == WeightLayout::kMinkowski || layout == WeightLayout::kTorchSparse;
  return kernel ? "kernel" : "weight";
}

void expect_same_bits(const State& got, const State& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(got.count(name)) << name;
    const Tensor& other = got.at(name);
    ASSERT_EQ(other.dtype(), tensor.dtype()) << name;
    ASSERT_EQ(other.shape(), tensor.shape()) << name;
    const Tensor a = tensor.contiguous();
    const Tensor b = other.contiguous();
    EXPECT_EQ(std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.nbytes())), 0) << name;
  }
}

std::string refusal(const State& state, const StateDictConversion& conversion) {
  try {
    convert_state_dict(state, conversion);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected \"" << part << "\" in: " << text;
}

/// A convolution with its bias, a batch norm, a linear layer; C_out = 3, C_in = 2.
State checkpoint(const Tensor& canonical, WeightLayout layout) {
  testing::Random random(11);
  const bool minkowski = layout == WeightLayout::kMinkowski;
  const std::string norm = minkowski ? "a.1.bn." : "a.1.";
  State state = {{"a.0." + kernel_leaf(layout), export_weight(canonical, layout)},
                 {"a.0.bias", testing::signed_tensor(random, minkowski ? Dims{1, 3} : Dims{3})},
                 {norm + "weight", testing::signed_tensor(random, {3})},
                 {norm + "bias", testing::signed_tensor(random, {3})},
                 {norm + "running_mean", testing::signed_tensor(random, {3})},
                 {norm + "num_batches_tracked", Tensor::zeros({}, DType::kI64)},
                 {"head.weight", testing::signed_tensor(random, {6, 3})},
                 {"head.bias", testing::signed_tensor(random, {6})}};
  return state;
}

TEST(ConvertStateDict, EveryPairOfLayoutsThereAndBack) {
  testing::Random random(7);
  for (const Dims& kernel :
       {Dims{3, 5, 1}, Dims{2, 4, 3}, Dims{3, 3, 3}, Dims{2, 2, 2}, Dims{1, 1, 1}, Dims{5, 3}}) {
    Dims shape{3};
    for (const std::int64_t extent : kernel) shape.push_back(extent);
    shape.push_back(2);
    const Tensor canonical = testing::signed_tensor(random, shape);
    for (const WeightLayout from : kAll) {
      for (const WeightLayout to : kAll) {
        SCOPED_TRACE(std::string(weight_layout_name(from)) + " to " + std::string(weight_layout_name(to)) +
                     " " + kernel.joined('x'));
        const State original = checkpoint(canonical, from);
        const ConvertedStateDict there =
            convert_state_dict(original, {from, to, {{"a.0." + kernel_leaf(from), kernel}}, {}});
        expect_same_bits(there.tensors, checkpoint(canonical, to));
        const ConvertedStateDict back =
            convert_state_dict(there.tensors, {to, from, {{"a.0." + kernel_leaf(to), kernel}}, {}});
        expect_same_bits(back.tensors, original);
        const auto convolutions = std::count_if(there.converted.begin(), there.converted.end(),
                                                [](const auto& tensor) { return !tensor.kernel.empty(); });
        EXPECT_EQ(convolutions, 1);
      }
    }
  }
}

TEST(ConvertStateDict, TellsWhatItTouched) {
  const State state = checkpoint(Tensor::zeros({3, 3, 3, 3, 2}, DType::kBF16), WeightLayout::kMinkowski);
  const ConvertedStateDict done =
      convert_state_dict(state, {WeightLayout::kMinkowski, WeightLayout::kTorch, {}, {}});
  ASSERT_EQ(done.converted.size(), 6U);  // the bias, the kernel, four of the norm
  const ConvertedTensor& kernel = done.converted[1];
  EXPECT_EQ(kernel.name, "a.0.kernel");
  EXPECT_EQ(kernel.shape, (Dims{27, 2, 3}));
  EXPECT_EQ(kernel.to_name, "a.0.weight");
  EXPECT_EQ(kernel.to_shape, (Dims{3, 2, 3, 3, 3}));
  EXPECT_EQ(kernel.kernel, (Dims{3, 3, 3}));
  EXPECT_EQ(done.tensors.at("a.0.weight").dtype(), DType::kBF16);
  EXPECT_TRUE(done.converted[0].kernel.empty());
  EXPECT_EQ(done.converted[0].to_shape, (Dims{3}));
}

TEST(ConvertStateDict, OnlyTheNamesAskedFor) {
  const Tensor dense = Tensor::zeros({8, 4, 3, 3}, DType::kF32);
  const State state = {{"backbone_3d.weight", Tensor::zeros({3, 3, 3, 4, 8}, DType::kF32)},
                       {"backbone_2d.weight", dense}};
  const auto done =
      convert_state_dict(state, {WeightLayout::kSpconv1, WeightLayout::kCanonical, {}, {"backbone_3d."}});
  EXPECT_EQ(done.tensors.at("backbone_3d.weight").shape(), (Dims{8, 3, 3, 3, 4}));
  EXPECT_EQ(done.tensors.at("backbone_2d.weight").shape(), dense.shape());
  EXPECT_EQ(done.converted.size(), 1U);
  expect_has(refusal(state, {WeightLayout::kSpconv1,
                             WeightLayout::kCanonical,
                             {{"backbone_2d.weight", Dims{3, 3}}},
                             {"backbone_3d."}}),
             "no convolution here");
}

TEST(ConvertStateDict, RefusesWhatDoesNotFit) {
  const auto zeros = [](const Dims& shape) { return Tensor::zeros(shape, DType::kF32); };
  const WeightLayout ours = WeightLayout::kCanonical;
  // Name, expected and met shape; in one error.
  const std::string several = refusal({{"a.weight", zeros({27, 2, 3, 1})}, {"b.weight", zeros({9, 2, 3})}},
                                      {WeightLayout::kMlx, ours, {}, {}});
  expect_has(several, "2 of 2 tensors");
  expect_has(several, "a.weight: layout mlx: expected [K, C_in, C_out], got f32 [27, 2, 3, 1]");
  expect_has(several, "b.weight f32 [9, 2, 3]: 9 taps are no cube; its kernel has to be given");
  expect_has(
      refusal({{"b.weight", zeros({9, 2, 3})}}, {WeightLayout::kMlx, ours, {{"b.weight", {3, 3, 3}}}, {}}),
      "expected [27, C_in, C_out] for kernel 3x3x3, got f32 [9, 2, 3]");
  expect_has(refusal({{"b.weight", zeros({3, 3, 1, 2, 3})}},
                     {WeightLayout::kSpconv1, ours, {{"b.weight", {3, 3, 3}}}, {}}),
             "expected kernel 3x3x3");
  expect_has(refusal({{"b.weight", zeros({1, 1, 1, 1, 1, 2, 3})}}, {WeightLayout::kTorch, ours, {}, {}}),
             "axes");
  // Layouts that the shape allows and the bias does not.
  const State spconv1 = {{"a.weight", zeros({3, 3, 3, 4, 8})}, {"a.bias", zeros({8})}};
  expect_has(refusal(spconv1, {WeightLayout::kSpconv20, ours, {}, {}}),
             "expected C_out = 8 as a.bias f32 [8] has, got C_out = 4 in f32 [3, 3, 3, 4, 8]");
  EXPECT_EQ(refusal(spconv1, {WeightLayout::kSpconv1, ours, {}, {}}), "");
  // Two that become one.
  expect_has(refusal({{"a.weight", zeros({3})}, {"a.kernel", zeros({27, 2, 3})}},
                     {WeightLayout::kTorchSparse, ours, {}, {}}),
             "a.weight, which is there already");
  expect_has(refusal({{"a.weight", zeros({2, 3, 3, 3, 1})}, {"a.kernel", zeros({27, 2, 3})}},
                     {ours, WeightLayout::kTorchSparse, {}, {}}),
             "a.kernel, which is there already");
}

TEST(ConvertStateDict, RefusesClaimsOfEmptyTensors) {
  // A file may claim any extents where one of them is 0.
  const std::int64_t huge = INT64_MAX;
  const auto empty = [](const Dims& shape) { return Tensor::empty(shape, DType::kF32); };
  expect_has(
      refusal({{"a.weight", empty({0, 2, 3})}}, {WeightLayout::kMlx, WeightLayout::kCanonical, {}, {}}),
      "no cube");
  expect_has(refusal({{"a.kernel", empty({huge, 0, 3})}},
                     {WeightLayout::kMinkowski, WeightLayout::kCanonical, {}, {}}),
             "no cube");
}

TEST(ConvertStateDict, PaddlesRecordedKernelsThroughEveryLayout) {
  const auto path = shared_data("data/golden/paddle/paddle_sparse.json");
  if (!path) GTEST_SKIP() << "data/golden/paddle/paddle_sparse.json is absent";
  std::ifstream file(*path);
  const nlohmann::json vectors = nlohmann::json::parse(file);
  int seen = 0;
  for (const auto& vector : vectors.at("conv")) {
    const auto extents = vector.at("kernel_dims").get<std::vector<std::int64_t>>();
    const Dims shape{std::span<const std::int64_t>(extents)};
    const Tensor stored = Tensor::from<float>(shape, vector.at("kernel").get<std::vector<float>>());
    const Tensor canonical = import_weight(stored, WeightLayout::kSpconv1);  // what the golden test runs
    const Dims kernel{shape[0], shape[1], shape[2]};
    for (const WeightLayout layout : kAll) {
      SCOPED_TRACE(weight_layout_name(layout));
      const State there =
          convert_state_dict({{"conv.weight", stored}}, {WeightLayout::kSpconv1, layout, {}, {}}).tensors;
      const State ours = import_state_dict(there, layout, {{"conv." + kernel_leaf(layout), kernel}});
      expect_same_bits(ours, {{"conv.weight", canonical}});
    }
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace aerogel::nn
