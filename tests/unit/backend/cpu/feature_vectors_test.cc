// f16 and bf16 in vectors, on every instruction set: what is loaded and how it is rounded, seen through the
// affine row.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/op_kernels.h"
#include "core/half.h"
#include "unit/backend/cpu/conv_cases.h"

namespace aerogel::cpu_test {
namespace {

template <class T>
void expect_same(T got, T expected, float from) {
  if (std::isnan(to_f32(expected))) {
    EXPECT_TRUE(std::isnan(to_f32(got))) << from;
  } else {
    EXPECT_EQ(got.bits, expected.bits) << from;
  }
}

/// Every value of T through a load and a store.
template <class T>
void check_all_values() {
  std::vector<T> values(65536);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) values[bits].bits = static_cast<std::uint16_t>(bits);
  AffineArgs args;
  args.in = Tensor::from<T>({1024, 64}, values);
  args.out = Tensor::empty({1024, 64}, dtype_of<T>);
  args.threads = 1;
  cpu::kAffineRowLoop.run(args);
  for (std::size_t i = 0; i < values.size(); ++i)
    expect_same(args.out.data<T>()[i], values[i], to_f32(values[i]));
}

/// f32 numbers of every size, ties among them, rounded to T: 0 + shift.
template <class T>
void check_rounding() {
  std::mt19937 random(7);
  std::vector<float> numbers;
  for (int i = 0; i < 20011; ++i) {
    auto bits = static_cast<std::uint32_t>(random());
    if (i % 2 == 0) bits = (bits & 0xbfffffffu) | 0x30000000u;  // the range of f16 and around it
    if (i % 5 == 0) bits = (bits & ~0xfffu) | 0x1000u;          // ties of f16
    if (i % 5 == 1) bits = (bits & ~0xffffu) | 0x8000u;         // ties of bf16
    numbers.push_back(std::bit_cast<float>(bits));
  }
  for (const float edge : {65504.0f, 65519.0f, 65520.0f, 0x1p-14f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f,
                           std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()}) {
    numbers.insert(numbers.end(), {edge, -edge});
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  AffineArgs args;
  args.in = Tensor::zeros({1, count}, dtype_of<T>);
  args.shift = Tensor::from<float>({count}, numbers);
  args.out = Tensor::empty({1, count}, dtype_of<T>);
  args.threads = 1;
  cpu::kAffineRowLoop.run(args);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;  // 0 + −0
    expect_same(args.out.data<T>()[i], round_to<T>(numbers[i]), numbers[i]);
  }
}

TEST(FeatureVectors, HoldEveryValueAndRoundToNearestEven) {
  for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    check_all_values<F16>();
    check_all_values<BF16>();
    check_rounding<F16>();
    check_rounding<BF16>();
  });
}

}  // namespace
}  // namespace aerogel::cpu_test
