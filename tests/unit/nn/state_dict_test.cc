#include <cstring>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/nn.h"

namespace aerogel::nn {
namespace {

StateDict weights_of(std::string_view network, std::uint64_t seed) {
  const auto module = make_network(network);
  init_weights(*module, seed);
  return state_dict(*module);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.nbytes())) == 0;
}

TEST(StateDict, LoadsWhatItGave) {
  const StateDict given = weights_of("unet3d", 1);
  const auto module = make_network("unet3d");
  load_state_dict(*module, given);
  const StateDict back = state_dict(*module);
  ASSERT_EQ(back.size(), given.size());
  for (const auto& [name, tensor] : given) EXPECT_TRUE(same_bits(back.at(name), tensor)) << name;
}

TEST(StateDict, ListsEveryProblemAtOnceAndLoadsNothing) {
  StateDict given = weights_of("unet3d", 1);
  given.erase("down.weight");
  given.erase("stem.1.running_var");
  given["dense_head.weight"] = Tensor::zeros({2}, DType::kF32);
  given["head.weight"] = Tensor::zeros({32, 1, 1, 1, 8}, DType::kF32);
  const auto module = make_network("unet3d");
  init_weights(*module, 2);
  const Tensor before = state_dict(*module).at("up.weight");
  try {
    load_state_dict(*module, given);
    FAIL() << "expected InvalidArgument";
  } catch (const InvalidArgument& error) {
    const std::string message = error.what();
    for (const char* part : {"missing down.weight [32, 3, 3, 3, 16]", "missing stem.1.running_var [16]",
                             "unexpected dense_head.weight f32 [2]",
                             "misshapen head.weight: expected [8, 1, 1, 1, 32], got f32 [32, 1, 1, 1, 8]"}) {
      EXPECT_NE(message.find(part), std::string::npos) << part << " not in:\n" << message;
    }
  }
  EXPECT_TRUE(same_bits(state_dict(*module).at("up.weight"), before));
}

TEST(StateDict, NamesMatchWithAndWithoutThePrefix) {
  StateDict prefixed;
  for (const auto& [name, tensor] : weights_of("centerpoint", 3)) prefixed["backbone_3d." + name] = tensor;
  prefixed["backbone_3d.conv_input.1.num_batches_tracked"] = Tensor::zeros({1}, DType::kI64);
  const auto module = make_network("centerpoint");
  EXPECT_NO_THROW(load_state_dict(*module, prefixed, "backbone_3d."));
  EXPECT_NO_THROW(load_state_dict(*module, weights_of("centerpoint", 3), "backbone_3d."));
  EXPECT_THROW(load_state_dict(*module, prefixed), InvalidArgument);
  // A whole detector's checkpoint: what stands outside the prefix is of its other modules; inside, all is
  // strict.
  prefixed["dense_head.conv.weight"] = Tensor::zeros({1}, DType::kF32);
  EXPECT_NO_THROW(load_state_dict(*module, prefixed, "backbone_3d."));
  prefixed["backbone_3d.no_such.weight"] = Tensor::zeros({1}, DType::kF32);
  EXPECT_THROW(load_state_dict(*module, prefixed, "backbone_3d."), InvalidArgument);
}

TEST(StateDict, ConvertsToF32) {
  StateDict halves;
  for (const auto& [name, tensor] : weights_of("unet3d", 1)) halves[name] = tensor.to(DType::kF16);
  const auto module = make_network("unet3d");
  load_state_dict(*module, halves);
  for (const auto& [name, tensor] : state_dict(*module)) EXPECT_EQ(tensor.dtype(), DType::kF32) << name;
}

TEST(InitWeights, DependsOnSeedAndNameOnly) {
  const StateDict a = weights_of("centerpoint", 5);
  const StateDict b = weights_of("centerpoint", 5);
  const StateDict c = weights_of("centerpoint", 6);
  for (const auto& [name, tensor] : a) {
    EXPECT_TRUE(same_bits(tensor, b.at(name))) << name;
    EXPECT_FALSE(same_bits(tensor, c.at(name))) << name;
  }
  EXPECT_FALSE(same_bits(a.at("conv1.0.conv1.weight"), a.at("conv1.0.conv2.weight")));
}

TEST(InitWeights, IsSignedAndHeScaled) {
  const Tensor weight = weights_of("centerpoint", 5).at("conv4.1.conv1.weight");  // [128, 3, 3, 3, 128]
  double sum = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    const double value = weight.data<float>()[i];
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(weight.numel());
  EXPECT_NEAR(sum / count, 0, 1e-4);
  EXPECT_NEAR(squares / count, 2.0 / (27 * 128), 1e-5);
}

}  // namespace
}  // namespace aerogel::nn
