#include <gtest/gtest.h>

#include "aerogel/conv.h"
#include "aerogel/error.h"

namespace aerogel {
namespace {

TEST(ConvWeight, KnowsItsCanonicalLayout) {
  const ConvWeight weight(Tensor::zeros({8, 3, 1, 5, 4}, DType::kF32));
  EXPECT_EQ(weight.c_out(), 8);
  EXPECT_EQ(weight.c_in(), 4);
  EXPECT_EQ(weight.kernel(), (Dims{3, 1, 5}));
  EXPECT_EQ(ConvWeight(Tensor::zeros({8, 4}, DType::kF32)).volume(), 1);
}

TEST(ConvWeight, PacksOncePerLayout) {
  const ConvWeight weight(Tensor::zeros({8, 3, 4}, DType::kF32));
  const ConvWeight same = weight;
  int packs = 0;
  const auto pack = [&](const Tensor& canonical) {
    ++packs;
    return canonical.clone();
  };
  EXPECT_EQ(weight.packed("a", pack).raw(), same.packed("a", pack).raw());
  EXPECT_NE(weight.packed("a", pack).raw(), weight.packed("b", pack).raw());
  EXPECT_EQ(packs, 2);
}

TEST(ConvWeight, RefusesWhatIsNoWeight) {
  EXPECT_THROW(ConvWeight(Tensor::zeros({8}, DType::kF32)), InvalidArgument);
  EXPECT_THROW(ConvWeight(Tensor::zeros({8, 4}, DType::kF64)), InvalidArgument);
  EXPECT_THROW(ConvWeight(Tensor::zeros({0, 3, 4}, DType::kF32)), InvalidArgument);
  EXPECT_THROW(ConvWeight(Tensor{}), InvalidArgument);
}

}  // namespace
}  // namespace aerogel
