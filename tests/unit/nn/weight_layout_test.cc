// Importers on asymmetric kernels: each layout's element order is written out here by hand, as a formula.
#include "aerogel/weight_layout.h"

#include <functional>

#include <gtest/gtest.h>

#include "aerogel/error.h"

#include "conformance/generate.h"

namespace aerogel::nn {
namespace {

constexpr std::int64_t kOut = 3;
constexpr std::int64_t kIn = 2;

/// The flat position of canonical element (o, a, b, c, i) in the stored tensor; kernel [A, B, C].
using Position = std::function<std::int64_t(std::int64_t o, std::int64_t a, std::int64_t b, std::int64_t c,
                                            std::int64_t i, const Dims& k)>;

struct Case {
  WeightLayout layout;
  std::function<Dims(const Dims& k)> shape;
  Position position;
};

Dims flat(const Dims& k) { return {k.product(), kIn, kOut}; }
std::int64_t last_fastest(std::int64_t a, std::int64_t b, std::int64_t c, const Dims& k) {
  return (a * k[1] + b) * k[2] + c;
}
std::int64_t first_fastest(std::int64_t a, std::int64_t b, std::int64_t c, const Dims& k) {
  return (c * k[1] + b) * k[0] + a;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {WeightLayout::kCanonical,
       [](const Dims& k) {
         return Dims{kOut, k[0], k[1], k[2], kIn};
       },
       [](auto o, auto a, auto b, auto c, auto i, const Dims& k) {
         return (o * k.product() + last_fastest(a, b, c, k)) * kIn + i;
       }},
      {WeightLayout::kSpconv1,
       [](const Dims& k) {
         return Dims{k[0], k[1], k[2], kIn, kOut};
       },
       [](auto o, auto a, auto b, auto c, auto i, const Dims& k) {
         return (last_fastest(a, b, c, k) * kIn + i) * kOut + o;
       }},
      {WeightLayout::kSpconv20,
       [](const Dims& k) {
         return Dims{k[0], k[1], k[2], kOut, kIn};
       },
       [](auto o, auto a, auto b, auto c, auto i, const Dims& k) {
         return (last_fastest(a, b, c, k) * kOut + o) * kIn + i;
       }},
      {WeightLayout::kTorch,
       [](const Dims& k) {
         return Dims{kOut, kIn, k[0], k[1], k[2]};
       },
       [](auto o, auto a, auto b, auto c, auto i, const Dims& k) {
         return (o * kIn + i) * k.product() + last_fastest(a, b, c, k);
       }},
      {WeightLayout::kMlx, flat,
       [](auto o, auto a, auto b, auto c, auto i, const Dims& k) {
         return (last_fastest(a, b, c, k) * kIn + i) * kOut + o;
       }},
      {WeightLayout::kMinkowski, flat,
       [](auto o, auto a, auto b, auto c, auto i, const Dims& k) {
         return (first_fastest(a, b, c, k) * kIn + i) * kOut + o;
       }},
      {WeightLayout::kTorchSparse, flat,
       [](auto o, auto a, auto b, auto c, auto i, const Dims& k) {
         const std::int64_t tap = k.product() % 2 ? first_fastest(a, b, c, k) : last_fastest(a, b, c, k);
         return (tap * kIn + i) * kOut + o;
       }},
  };
  return all;
}

TEST(WeightLayout, EveryImporterOnAnAsymmetricKernel) {
  testing::Random random(7);
  for (const Dims& kernel : {Dims{3, 5, 1}, Dims{2, 4, 3}, Dims{3, 3, 3}, Dims{2, 2, 2}}) {
    for (const Case& layout : cases()) {
      SCOPED_TRACE(std::string(weight_layout_name(layout.layout)) + " " + kernel.joined('x'));
      const Tensor stored = testing::signed_tensor(random, layout.shape(kernel));
      const Tensor weight = import_weight(stored, layout.layout, kernel);
      ASSERT_EQ(weight.shape(), (Dims{kOut, kernel[0], kernel[1], kernel[2], kIn}));
      ASSERT_TRUE(weight.is_contiguous());
      const float* got = weight.data<float>();
      for (std::int64_t o = 0; o < kOut; ++o)
        for (std::int64_t a = 0; a < kernel[0]; ++a)
          for (std::int64_t b = 0; b < kernel[1]; ++b)
            for (std::int64_t c = 0; c < kernel[2]; ++c)
              for (std::int64_t i = 0; i < kIn; ++i)
                ASSERT_EQ(*got++, stored.data<float>()[layout.position(o, a, b, c, i, kernel)]);
      const Tensor back = export_weight(weight, layout.layout);
      ASSERT_EQ(back.shape(), stored.shape());
      for (std::int64_t at = 0; at < back.numel(); ++at)
        ASSERT_EQ(back.data<float>()[at], stored.data<float>()[at]);
    }
  }
}

TEST(WeightLayout, OtherRanksAndDtypes) {
  const Tensor line = Tensor::from<std::int8_t>({3, 2, 1}, std::vector<std::int8_t>{1, 2, 3, 4, 5, 6});
  const Tensor weight = import_weight(line, WeightLayout::kMinkowski, {3});  // [K, C_in = 2, C_out = 1]
  ASSERT_EQ(weight.shape(), (Dims{1, 3, 2}));
  EXPECT_EQ(weight.dtype(), DType::kI8);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(weight.data<std::int8_t>()[i], i + 1);
  const Tensor matrix = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor pointwise = import_weight(matrix, WeightLayout::kTorchSparse, {1, 1, 1});
  ASSERT_EQ(pointwise.shape(), (Dims{3, 1, 1, 1, 2}));
  EXPECT_EQ(pointwise.data<float>()[1], 4);  // [o = 0, i = 1]
  EXPECT_EQ(export_weight(pointwise, WeightLayout::kTorchSparse).shape(), (Dims{2, 3}));
  const Tensor four = Tensor::zeros({5, 2, 3, 1, 3, 4}, DType::kF16);
  EXPECT_EQ(import_weight(export_weight(four, WeightLayout::kMlx), WeightLayout::kMlx, {2, 3, 1, 3}).shape(),
            four.shape());
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(WeightLayout, RefusesWhatDoesNotFit) {
  const Tensor flat27 = Tensor::zeros({27, 2, 3}, DType::kF32);
  EXPECT_NE(refusal([&] { import_weight(flat27, WeightLayout::kMlx); }).find("kernel size"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              import_weight(flat27, WeightLayout::kMlx, {3, 3});
            }).find("[9, C_in, C_out]"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              import_weight(Tensor::zeros({2, 3}, DType::kF32), WeightLayout::kTorch);
            }).find("axes"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              import_weight(Tensor::zeros({2, 3, 3}, DType::kF32), WeightLayout::kTorch, {5});
            }).find("kernel 5"),
            std::string::npos);
  EXPECT_NE(refusal([] { parse_weight_layout("spconv"); }).find("spconv2.0"), std::string::npos);
  for (const Case& layout : cases())
    EXPECT_EQ(parse_weight_layout(weight_layout_name(layout.layout)), layout.layout);
}

TEST(WeightLayout, StateDictOfMinkowskiEngine) {
  const std::map<std::string, Tensor> state = {
      {"conv.kernel", Tensor::zeros({27, 2, 3}, DType::kF32)},
      {"conv.bias", Tensor::zeros({1, 3}, DType::kF32)},
      {"flat.kernel", Tensor::zeros({9, 3, 4}, DType::kF32)},
      {"point.kernel", Tensor::zeros({4, 5}, DType::kF32)},
      {"norm.bn.weight", Tensor::zeros({5}, DType::kF32)},
      {"norm.bn.running_mean", Tensor::zeros({5}, DType::kF32)},
      {"head.weight", Tensor::zeros({6, 5}, DType::kF32)},
  };
  const auto ours = import_state_dict(state, WeightLayout::kMinkowski, {{"flat.kernel", Dims{3, 3, 1}}});
  const std::map<std::string, Dims> expected = {
      {"conv.weight", {3, 3, 3, 3, 2}},  {"conv.bias", {3}},   {"flat.weight", {4, 3, 3, 1, 3}},
      {"point.weight", {5, 1, 1, 1, 4}}, {"norm.weight", {5}}, {"norm.running_mean", {5}},
      {"head.weight", {6, 5}},
  };
  ASSERT_EQ(ours.size(), expected.size());
  for (const auto& [name, shape] : expected) {
    ASSERT_TRUE(ours.count(name)) << name;
    EXPECT_EQ(ours.at(name).shape(), shape) << name;
  }
}

TEST(WeightLayout, StateDictErrorsAreListedTogether) {
  const std::map<std::string, Tensor> state = {
      {"a.kernel", Tensor::zeros({9, 2, 3}, DType::kF32)},
      {"b.kernel", Tensor::zeros({27, 2, 3}, DType::kF32)},
      {"b.weight", Tensor::zeros({3}, DType::kF32)},
  };
  const std::string message = refusal([&] {
    import_state_dict(state, WeightLayout::kTorchSparse, {{"c.kernel", Dims{3}}});
  });
  EXPECT_NE(message.find("a.kernel"), std::string::npos) << message;
  EXPECT_NE(message.find("b.weight"), std::string::npos) << message;
  EXPECT_NE(message.find("c.kernel"), std::string::npos) << message;
}

}  // namespace
}  // namespace aerogel::nn
