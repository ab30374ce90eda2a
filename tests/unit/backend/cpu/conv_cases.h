// Generated convolution problems and their judge: a naive loop in double with the bound c · eps · Σ|terms|.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "aerogel/conv.h"

#include "backend/kernel.h"

namespace aerogel::cpu_test {

/// Runs body(name of the instruction set) once for each one that the library was built for and this machine
/// has.
template <class Body>
void for_each_target(const Body& body) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_STATIC_TARGET}) {
    if (target != HWY_STATIC_TARGET && (supported & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body(std::string(hwy::TargetName(target)));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

struct Case {
  std::int64_t n_in, n_out, volume, c_in, c_out;
  double density;     // of the pairs; every third offset is empty, the last one lists every output row
  unsigned epilogue;  // bits: bias, scale, shift, residual, relu
  bool nan = false;   // one input row is NaN
  std::int64_t groups = 1;
  DType dtype = DType::kF32;

  std::string str() const {
    return "n_in=" + std::to_string(n_in) + ":n_out=" + std::to_string(n_out) +
           ":K=" + std::to_string(volume) + ":cin=" + std::to_string(c_in) +
           ":cout=" + std::to_string(c_out) + ":epilogue=" + std::to_string(epilogue) +
           ":groups=" + std::to_string(groups) + ":dtype=" + std::string(dtype_name(dtype));
  }
};

inline Tensor signed_random(const Dims& shape, std::mt19937& random) {
  Tensor tensor = Tensor::empty(shape, DType::kF32);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.mutable_data<float>()[i] = uniform(random);
  return tensor;
}

inline KernelMap random_map(const Case& c, std::mt19937& random) {
  std::vector<std::int32_t> in_rows, out_rows;
  std::vector<std::int64_t> begin{0};
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::int64_t k = 0; k < c.volume; ++k) {
    const double density = k + 1 == c.volume ? 1.0 : k % 3 == 1 ? 0.0 : c.density;
    for (std::int64_t o = 0; o < c.n_out && c.n_in > 0; ++o) {
      if (uniform(random) >= density) continue;
      in_rows.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(c.n_in)));
      out_rows.push_back(static_cast<std::int32_t>(o));
    }
    begin.push_back(static_cast<std::int64_t>(in_rows.size()));
  }
  KernelMap map;
  map.n_in = c.n_in;
  map.n_out = c.n_out;
  const auto pairs = static_cast<std::int64_t>(in_rows.size());
  map.in_rows = Tensor::from<std::int32_t>({pairs}, in_rows);
  map.out_rows = Tensor::from<std::int32_t>({pairs}, out_rows);
  map.offset_begin = Tensor::from<std::int64_t>({c.volume + 1}, begin);
  return map;
}

/// Owns what SparseConvArgs points to. Without `map` a linear layer.
struct Problem {
  KernelMap map;
  SparseConvArgs args;

  Problem(const Case& c, bool with_map, unsigned seed) {
    std::mt19937 random(seed);
    if (with_map) map = random_map(c, random);
    args.map = with_map ? &map : nullptr;
    args.in = signed_random({c.n_in, c.c_in}, random);
    if (c.nan && c.n_in > 0)
      args.in.mutable_data<float>()[c.c_in / 2] = std::numeric_limits<float>::quiet_NaN();
    args.weight = signed_random(
        with_map ? Dims{c.c_out, c.volume, c.c_in / c.groups} : Dims{c.c_out, c.c_in / c.groups}, random);
    if (c.epilogue & 1) args.epilogue.bias = signed_random({c.c_out}, random);
    if (c.epilogue & 2) args.epilogue.scale = signed_random({c.c_out}, random);
    if (c.epilogue & 4) args.epilogue.shift = signed_random({c.c_out}, random);
    if (c.epilogue & 8) args.epilogue.residual = signed_random({c.n_out, c.c_out}, random);
    if (c.epilogue & 16) args.epilogue.activation = Activation::kRelu;
    args.problem.spec.kernel = Dims{c.volume};
    args.problem.n_in = c.n_in;
    args.problem.n_out = c.n_out;
    args.problem.pairs = with_map ? map.pairs() : c.n_in;
    args.problem.c_in = c.c_in;
    args.problem.c_out = c.c_out;
    args.problem.groups = c.groups;
    args.problem.dtype = c.dtype;
    args.in = args.in.to(c.dtype);
    if (c.dtype != DType::kF32) args.weight = args.weight.canonical().to(c.dtype);
    if (args.epilogue.residual.defined()) args.epilogue.residual = args.epilogue.residual.to(c.dtype);
  }

  std::vector<float> run(const Kernel<SparseConvArgs>& kernel, int threads) {
    EXPECT_EQ(kernel.supports(args), "");
    args.threads = threads;
    args.out = Tensor::empty({args.problem.n_out, args.problem.c_out}, DType::kF32);
    std::fill_n(args.out.mutable_data<float>(), args.out.numel(), 777.0F);
    args.out = args.out.to(args.problem.dtype);
    std::vector<char> workspace(static_cast<std::size_t>(kernel.workspace_bytes(args)));
    args.workspace = workspace.data();
    kernel.run(args);
    const Tensor out = args.out.to(DType::kF32);
    return {out.data<float>(), out.data<float>() + out.numel()};
  }

  /// Checks every element of `out` against the sum in double.
  void judge(const std::vector<float>& out) const {
    const std::int64_t c_in = args.problem.c_in, c_out = args.problem.c_out, volume = args.weight.volume();
    const std::int64_t group_in = args.weight.c_in(), group_out = c_out / args.problem.groups;
    std::vector<double> sum(out.size()), size(out.size());
    const Tensor in = args.in.to(DType::kF32), weight = args.weight.canonical().to(DType::kF32);
    const auto add = [&](std::int64_t i, std::int64_t o, std::int64_t k) {
      for (std::int64_t co = 0; co < c_out; ++co) {
        const float* w = weight.data<float>() + (co * volume + k) * group_in;
        for (std::int64_t ci = 0; ci < group_in; ++ci) {
          const double term =
              static_cast<double>(in.data<float>()[i * c_in + co / group_out * group_in + ci]) *
              static_cast<double>(w[ci]);
          sum[static_cast<std::size_t>(o * c_out + co)] += term;
          size[static_cast<std::size_t>(o * c_out + co)] += std::abs(term);
        }
      }
    };
    if (args.map == nullptr) {
      for (std::int64_t row = 0; row < args.problem.n_out; ++row) add(row, row, 0);
    } else {
      const std::int64_t* begin = map.offset_begin.data<std::int64_t>();
      for (std::int64_t k = 0; k < volume; ++k) {
        for (std::int64_t p = begin[k]; p < begin[k + 1]; ++p) {
          add(map.in_rows.data<std::int32_t>()[p], map.out_rows.data<std::int32_t>()[p], k);
        }
      }
    }
    const auto value_of = [](const Tensor& t, std::int64_t i, double otherwise) {
      return t.defined() ? static_cast<double>(t.data<float>()[i]) : otherwise;
    };
    const Tensor residuals =
        args.epilogue.residual.defined() ? args.epilogue.residual.to(DType::kF32) : Tensor();
    const double unit = args.problem.dtype == DType::kF16    ? 0x1p-11
                        : args.problem.dtype == DType::kBF16 ? 0x1p-8
                                                             : 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()); ++i) {
      const std::int64_t co = i % c_out;
      const auto at = static_cast<std::size_t>(i);
      const double bias = value_of(args.epilogue.bias, co, 0), scale = value_of(args.epilogue.scale, co, 1);
      const double shift = value_of(args.epilogue.shift, co, 0), residual = value_of(residuals, i, 0);
      double expected = (sum[at] + bias) * scale + shift + residual;
      if (args.epilogue.activation == Activation::kRelu && expected < 0) expected = 0;
      const double terms =
          (size[at] + std::abs(bias)) * std::abs(scale) + std::abs(shift) + std::abs(residual);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(out[at])) << "element " << i;
        continue;
      }
      ASSERT_NEAR(static_cast<double>(out[at]), expected,
                  8 * 1.2e-7 * terms + unit * (1 + std::abs(expected)))
          << "element " << i;
    }
  }
};

}  // namespace aerogel::cpu_test
