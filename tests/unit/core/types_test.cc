#include "aerogel/types.h"

#include <limits>

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

TEST(Types, DTypeNamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
    EXPECT_GE(itemsize(dtype), 1u);
  }
  EXPECT_THROW(parse_dtype("float33"), InvalidArgument);
}

TEST(Types, ActivationNamesRoundTrip) {
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(parse_activation(activation_name(static_cast<Activation>(i))), static_cast<Activation>(i));
  }
  EXPECT_THROW(parse_activation("swish"), InvalidArgument);
}

TEST(Types, DimsKnowTheirProductAndRefuseOverflow) {
  EXPECT_EQ(Dims{}.product(), 1);
  EXPECT_EQ((Dims{3, 0, 5}).product(), 0);
  EXPECT_EQ((Dims{1 << 20, 1 << 20, 1 << 20}).product(), std::int64_t{1} << 60);
  EXPECT_THROW(static_cast<void>((Dims{1 << 30, 1 << 30, 1 << 30}).product()), InvalidArgument);
  EXPECT_EQ((Dims{3, 1, 2}).str(), "[3, 1, 2]");
  EXPECT_EQ((Dims{3, 1, 2}).joined('x'), "3x1x2");
}

TEST(Types, DimsRefuseANinthAxis) { EXPECT_THROW((Dims{1, 2, 3, 4, 5, 6, 7, 8, 9}), InvalidArgument); }

}  // namespace
}  // namespace aerogel
