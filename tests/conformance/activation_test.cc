// Activations against their definitions in double: by themselves, and behind a convolution.
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/core.h>

#include "backend/reference/activate.h"
#include "backend/reference/sparse_conv.h"
#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

constexpr double kEps = 0x1p-24;
constexpr std::int64_t kActivations = 7;

std::string random_activation(Random& random) {
  return fmt::format("activation={}:slope={}",
                     activation_name(static_cast<Activation>(random.integer(0, kActivations - 1))),
                     random.integer(-4, 4));
}

struct Activating {
  Activation activation;
  float slope;

  explicit Activating(const ProblemString& problem)
      : activation(parse_activation(problem.text("activation"))),
        slope(static_cast<float>(problem.number("slope")) / 8) {}

  /// What the arithmetic of the activation of x may err: a few units of the result, a tanh's argument of a
  /// few units more, and results below the least normal f32, which may be flushed.
  double error(double x, double y) const {
    const double argument =
        activation == Activation::kGeluTanh ? 1.6 * (std::abs(x) + 0.05 * std::abs(x * x * x)) : 0;
    return (10 + 4 * std::min(argument, 200.0)) * kEps * std::abs(y) + 0x1p-120;
  }
};

TEST(Conformance, Activation) {
  for_each_problem(
      "activation", 120,
      [](Random& random) {
        return fmt::format("activation:{}:n={}:c={}:scale={}:{}:seed={}", random_dtype(random),
                           random.integer(0, 700), random.integer(1, 70), random.integer(1, 40),
                           random_activation(random), random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const Activating by(problem);
        const DType dtype = dtype_of(problem);
        Tensor in = signed_tensor(random, {problem.integer("n"), problem.integer("c")});
        constexpr float kInf = std::numeric_limits<float>::infinity();
        const float specials[] = {std::nanf(""), kInf, -kInf, 0.0f, 1e30f, -1e30f, 1e-30f};
        for (std::int64_t i = 0; i < in.numel(); ++i) {
          float& value = in.mutable_data<float>()[i];
          value *= static_cast<float>(problem.integer("scale"));
          if (random.integer(0, 50) == 0) value = specials[random.integer(0, 6)];
        }
        in = in.to(dtype);
        AffineArgs args;
        args.in = in;
        args.activation = by.activation;
        args.negative_slope = by.slope;
        args.out = poisoned(in.shape(), dtype);
        run_row(reference_row<AffineArgs>(&KernelTables::affine), args, 1);
        const std::vector<double> from = doubles(in);
        const std::vector<double> expected = doubles(args.out);
        std::vector<double> bound;
        for (std::size_t i = 0; i < from.size(); ++i) {
          bound.push_back(by.error(from[i], expected[i]) +
                          (dtype == DType::kF32 ? 0 : 2 * rounding_of(dtype, expected[i])));
        }
        for_each_row<AffineArgs>(&KernelTables::affine, [&](const Kernel<AffineArgs>& row) {
          args.out = poisoned(in.shape(), dtype);
          run_row(row, args, 3);
          expect_within(args.out, expected, bound);
        });
      });
}

/// Where the sum lies within ±δ of x, an activation moves by at most 1.13 δ (the steepest is GELU), or by
/// |slope| δ.
TEST(Conformance, ActivationBehindAConvolution) {
  for_each_problem(
      "activated_conv", 40,
      [](Random& random) {
        const bool map = random.integer(0, 1) == 1;
        return fmt::format("activated_conv:{}:cin={}:cout={}:map={}:residual={}:{}:{}", random_dtype(random),
                           random.integer(1, 40), random.integer(1, 70), static_cast<int>(map),
                           random.integer(0, 1), random_activation(random), random_geometry(random));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const Activating by(problem);
        const DType dtype = dtype_of(problem);
        const KernelSpec spec =
            problem.integer("map") ? spec_of(problem) : KernelSpec::make(ConvKind::kRegular, {1});
        const Coordinates sites = sites_of(problem, random);
        const auto map = problem.integer("map") ? reference_map(sites, spec) : nullptr;
        SparseConvArgs args;
        ConvProblem& numbers = args.problem;
        numbers.spec = spec;
        numbers.n_in = map ? map->n_in : sites.size();
        numbers.n_out = map ? map->n_out : sites.size();
        numbers.pairs = map ? map->pairs() : sites.size();
        numbers.c_in = problem.integer("cin");
        numbers.c_out = problem.integer("cout");
        numbers.dtype = dtype;
        numbers.residual = problem.integer("residual") == 1;
        numbers.activation = by.activation;
        args.map = map.get();
        args.in = signed_tensor(random, {numbers.n_in, numbers.c_in}, dtype);
        Dims shape{numbers.c_out};
        for (const std::int64_t extent : spec.kernel) shape.push_back(extent);
        shape.push_back(numbers.c_in);
        args.weight = ConvWeight(signed_tensor(random, shape, dtype));
        if (numbers.residual)
          args.epilogue.residual = signed_tensor(random, {numbers.n_out, numbers.c_out}, dtype);
        std::vector<std::int64_t> rows(static_cast<std::size_t>(numbers.n_out));
        std::iota(rows.begin(), rows.end(), 0);
        std::vector<double> sums(rows.size() * static_cast<std::size_t>(numbers.c_out));
        std::vector<double> abs_sum(sums.size());
        reference::sparse_conv_rows(args, rows, sums.data(), abs_sum.data());  // no activation yet
        args.epilogue.activation = by.activation;
        args.epilogue.negative_slope = by.slope;
        std::vector<double> expected;
        std::vector<double> bound;
        const double terms = static_cast<double>(spec.volume() * numbers.c_in + 4);
        for (std::size_t i = 0; i < sums.size(); ++i) {
          expected.push_back(reference::activate(by.activation, by.slope, sums[i]));
          bound.push_back(1.13 * terms * kEps * abs_sum[i] + by.error(sums[i], expected[i]) +
                          (dtype == DType::kF32 ? 0 : rounding_of(dtype, expected[i])));
        }
        for_each_row<SparseConvArgs>(map ? &KernelTables::sparse_conv : &KernelTables::linear,
                                     [&](const Kernel<SparseConvArgs>& row) {
                                       if (!row.supports(args).empty()) return;
                                       args.out = poisoned({numbers.n_out, numbers.c_out}, dtype);
                                       run_row(row, args, 3);
                                       expect_within(args.out, expected, bound);
                                     });
      });
}

}  // namespace
}  // namespace aerogel::testing
