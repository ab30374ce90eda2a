// The i8 row on every instruction set: sums equal to integer ones, for every remainder of channels.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/conv_kernels.h"
#include "unit/backend/cpu/conv_cases.h"

namespace aerogel::cpu_test {
namespace {

Tensor random_i8(const Dims& shape, std::mt19937& random) {
  Tensor tensor = Tensor::empty(shape, DType::kI8);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(random() & 255);
  return tensor;
}

void check(std::int64_t c_in, std::int64_t c_out, std::int64_t groups, bool with_map) {
  const Case numbers{70,     with_map ? 300 : 70, with_map ? 4 : 1, c_in, c_out, 0.5, 0, false,
                     groups, DType::kI8};
  Problem problem({numbers.n_in, numbers.n_out, numbers.volume, c_in, c_out, 0.5, 0, false, groups}, with_map,
                  5);
  std::mt19937 random(3);
  SparseConvArgs& args = problem.args;
  args.problem.dtype = DType::kI8;
  args.in = random_i8({numbers.n_in, c_in}, random);
  args.weight =
      random_i8(with_map ? Dims{c_out, numbers.volume, c_in / groups} : Dims{c_out, c_in / groups}, random);
  args.epilogue.quantization = {
      1, Tensor::from<float>({c_out}, std::vector<float>(static_cast<std::size_t>(c_out), 1)), 0};
  const Kernel<SparseConvArgs>& row = with_map ? cpu::kSparseConvImplicitGemmI8 : cpu::kLinearPackedGemmI8;
  ASSERT_EQ(row.supports(args), "");
  args.out = Tensor::empty({numbers.n_out, c_out}, DType::kF32);
  args.threads = 2;
  std::vector<char> workspace(static_cast<std::size_t>(row.workspace_bytes(args)));
  args.workspace = workspace.data();
  row.run(args);

  std::vector<std::int64_t> sums(static_cast<std::size_t>(numbers.n_out * c_out), 0);
  const auto add = [&](std::int64_t i, std::int64_t o, std::int64_t k) {
    for (std::int64_t n = 0; n < c_out; ++n) {
      for (std::int64_t c = 0; c < c_in / groups; ++c) {
        sums[static_cast<std::size_t>(o * c_out + n)] +=
            args.in.data<std::int8_t>()[i * c_in + n / (c_out / groups) * (c_in / groups) + c] *
            args.weight.canonical().data<std::int8_t>()[(n * numbers.volume + k) * (c_in / groups) + c];
      }
    }
  };
  if (with_map) {
    const auto* begin = problem.map.offset_begin.data<std::int64_t>();
    for (std::int64_t k = 0; k < numbers.volume; ++k) {
      for (std::int64_t p = begin[k]; p < begin[k + 1]; ++p)
        add(problem.map.in_rows.data<std::int32_t>()[p], problem.map.out_rows.data<std::int32_t>()[p], k);
    }
  } else {
    for (std::int64_t i = 0; i < numbers.n_in; ++i) add(i, i, 0);
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    ASSERT_EQ(args.out.data<float>()[i], static_cast<float>(sums[i])) << "element " << i;
}

TEST(SparseConvImplicitGemmI8, SumsAreThoseOfIntegers) {
  for_each_target([](const std::string& target) {
    for (const bool with_map : {true, false}) {
      for (std::int64_t c = 1; c <= 40; ++c) {
        SCOPED_TRACE(target + " channels " + std::to_string(c));
        check(c, c % 9 + 1, 1, with_map);
        check(c % 7 + 1, c, 1, with_map);
        if (c <= 12) check(3 * c, 3 * (c + 2), 3, with_map);
      }
      check(130, 70, 1, with_map);
    }
  });
}

}  // namespace
}  // namespace aerogel::cpu_test
