#include "io/numbers.h"

#include <cmath>
#include <limits>

#include "io_testing.h"

namespace aerogel::io {
namespace {

TEST(Numbers, LoadsEitherOrder) {
  EXPECT_EQ(load<std::uint32_t>("\1\2\3\4", std::endian::little), 0x04030201u);
  EXPECT_EQ(load<std::uint32_t>("\1\2\3\4", std::endian::big), 0x01020304u);
}

TEST(Numbers, DecodesEveryDtype) {
  const auto decode = [](const std::string& bytes, DType dtype) {
    double value = 0;
    decode_column(bytes.data(), 0, dtype, std::endian::native, {&value, 1});
    return value;
  };
  EXPECT_EQ(decode(raw(1.5f), DType::kF32), 1.5);
  EXPECT_EQ(decode(raw(0.1), DType::kF64), 0.1);
  EXPECT_EQ(decode(raw(std::uint16_t{0x3c00}), DType::kF16), 1);
  EXPECT_EQ(decode(raw(std::uint16_t{0x3f80}), DType::kBF16), 1);
  EXPECT_EQ(decode(raw(std::int8_t{-7}), DType::kI8), -7);
  EXPECT_EQ(decode(raw(std::uint8_t{200}), DType::kU8), 200);
  EXPECT_EQ(decode(raw(std::int16_t{-300}), DType::kI16), -300);
  EXPECT_EQ(decode(raw(std::uint16_t{65535}), DType::kU16), 65535);
  EXPECT_EQ(decode(raw(std::int32_t{-70000}), DType::kI32), -70000);
  EXPECT_EQ(decode(raw(std::uint32_t{4000000000u}), DType::kU32), 4e9);
  EXPECT_EQ(decode(raw(std::int64_t{-1} << 40), DType::kI64), -std::ldexp(1, 40));
  EXPECT_EQ(decode(raw(std::uint64_t{1} << 63), DType::kU64), std::ldexp(1, 63));
}

TEST(Numbers, ArrayBytesSeesOverflowBehindZeroExtents) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(array_bytes({2, 3}, DType::kF32), 24);
  EXPECT_EQ(array_bytes({}, DType::kF64), 8);
  EXPECT_EQ(array_bytes({0, kHuge}, DType::kI8), 0);
  EXPECT_EQ(array_bytes({0, kHuge, kHuge}, DType::kI8), -1);
  EXPECT_EQ(array_bytes({kHuge}, DType::kF32), -1);
  EXPECT_EQ(array_bytes({-1}, DType::kF32), -1);
}

TEST(Numbers, ParsesText) {
  double value = 0;
  EXPECT_TRUE(parse_number("-1.5e3", value));
  EXPECT_EQ(value, -1500);
  EXPECT_TRUE(parse_number("+2", value));
  EXPECT_EQ(value, 2);
  EXPECT_TRUE(parse_number("nan", value));
  EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(parse_number("-INF", value));
  EXPECT_EQ(value, -std::numeric_limits<double>::infinity());
  for (const char* word : {"", "+", "+-1", "1x", "0x10", "1e999", "1,5"})
    EXPECT_FALSE(parse_number(word, value)) << word;
  std::uint64_t count = 0;
  EXPECT_TRUE(parse_count("9223372036854775807", count));
  for (const char* word : {"", "-1", "+1", "1.0", "9223372036854775808"})
    EXPECT_FALSE(parse_count(word, count)) << word;
}

TEST(Numbers, ExcerptsAreShortAndPrintable) {
  EXPECT_EQ(excerpt(""), "nothing");
  EXPECT_EQ(excerpt("a\nb"), "\"a?b\"");
  EXPECT_EQ(excerpt("abc", 2), "\"ab…\"");
}

}  // namespace
}  // namespace aerogel::io
