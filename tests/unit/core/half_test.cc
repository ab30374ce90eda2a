#include "core/half.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace aerogel {
namespace {

TEST(Half, EveryF16SurvivesTheWayThroughF32) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = f16_to_f32(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value))));
    } else {
      EXPECT_EQ(f32_to_f16(value), bits);
    }
  }
}

TEST(Half, EveryBf16SurvivesTheWayThroughF32) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = bf16_to_f32(static_cast<std::uint16_t>(bits));
    if (!std::isnan(value)) {
      EXPECT_EQ(f32_to_bf16(value), bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(f32_to_f16(1.0f + 0x1p-11f), f32_to_f16(1.0f));  // a tie goes to the even neighbour below
  EXPECT_EQ(f32_to_f16(1.0f + 3 * 0x1p-11f), f32_to_f16(1.0f + 0x1p-9f));  // and to the even one above
  EXPECT_EQ(f32_to_f16(65519.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0);  // half of the least subnormal ties to zero
  EXPECT_EQ(f32_to_f16(0x1.8p-25f), 1);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::nanf("")))));
}

TEST(Half, DoublesAreRoundedOnce) {
  // f32 rounds both to a tie of f16 and bf16; only what was below or above it says which way to go.
  EXPECT_EQ(round_to<F16>(1.0 + 0x1p-11 + 0x1p-40).bits, f32_to_f16(1.0f + 0x1p-10f));
  EXPECT_EQ(round_to<F16>(-1.0 - 0x1p-11 - 0x1p-40).bits, f32_to_f16(-1.0f - 0x1p-10f));
  EXPECT_EQ(round_to<F16>(1.0 + 3 * 0x1p-11 - 0x1p-40).bits, f32_to_f16(1.0f + 0x1p-10f));
  EXPECT_EQ(round_to<BF16>(1.0 + 0x1p-8 + 0x1p-40).bits, f32_to_bf16(1.0f + 0x1p-7f));
  EXPECT_EQ(round_to<F16>(1.0 + 0x1p-11).bits, f32_to_f16(1.0f));
  EXPECT_EQ(round_to<F16>(0x1p-25 + 0x1p-70).bits, 1);
  EXPECT_EQ(round_to<F16>(1e300).bits, 0x7c00);
  EXPECT_EQ(round_to<BF16>(-1e300).bits, 0xff80);
  EXPECT_EQ(round_to<F16>(-0.0).bits, 0x8000);
  EXPECT_TRUE(std::isnan(to_f32(round_to<BF16>(std::nan("")))));
}

}  // namespace
}  // namespace aerogel
