// Norms of rows and of batch items against the reference rows.
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

constexpr double kEps = 0x1p-24;

/// Signed features around `offset`, which must not eat the variance; some NaN and infinite where asked for.
Tensor features_around(const ProblemString& problem, Random& random, std::int64_t rows) {
  const Tensor in = signed_tensor(random, {rows, problem.integer("c")});
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float specials[] = {std::nanf(""), kInf, -kInf};
  for (std::int64_t i = 0; i < in.numel(); ++i) {
    float& value = in.mutable_data<float>()[i];
    value += static_cast<float>(problem.integer("offset"));
    if (problem.integer("specials") && random.integer(0, 200) == 0) value = specials[random.integer(0, 2)];
  }
  return in.to(dtype_of(problem));
}

std::string random_norm(Random& random, std::int64_t channels) {
  return fmt::format("{}:c={}:offset={}:weight={}:bias={}:specials={}:seed={}", random_dtype(random),
                     channels, random.integer(0, 1) * random.integer(0, 1000), random.integer(0, 1),
                     random.integer(0, 1), static_cast<int>(random.integer(0, 3) == 0),
                     random.integer(0, 1 << 30));
}

/// Against the reference: six roundings of the scaled distance and one of the sum with the bias; the mean,
/// which two floats hold to 2⁻⁴⁸, times the largest factor 1 / √eps; the rounding to the dtype on both sides.
template <class Args>
void check_norm_rows(Table<Args> table, const ProblemString& problem, Args args) {
  const DType dtype = dtype_of(problem);
  args.eps = 1e-5;
  args.out = poisoned(args.in.shape(), dtype);
  run_row(reference_row<Args>(table), args, 1);
  const std::vector<double> expected = doubles(args.out);
  std::vector<double> bound;
  const double mean_error = 4 * kEps * kEps * (1 + problem.number("offset")) / std::sqrt(args.eps);
  const auto channels = static_cast<std::size_t>(args.in.size(1));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double bias = args.bias.defined() ? std::abs(args.bias.template data<float>()[i % channels]) : 0.0;
    bound.push_back(8 * kEps * (std::abs(expected[i]) + 2 * bias) + mean_error +
                    (dtype == DType::kF32 ? 0 : 2 * rounding_of(dtype, expected[i])));
  }
  for_each_row<Args>(table, [&](const Kernel<Args>& row) {
    args.out = poisoned(args.in.shape(), dtype);
    run_row(row, args, 1);
    expect_within(args.out, expected, bound);
    const Tensor one_thread = args.out;
    args.out = poisoned(args.in.shape(), dtype);
    run_row(row, args, 3);
    expect_same_bits(args.out, one_thread, "three threads");
  });
}

TEST(Conformance, RowNorm) {
  for_each_problem(
      "row_norm", 80,
      [](Random& random) {
        return fmt::format("row_norm:n={}:centred={}:{}", random.integer(0, 600), random.integer(0, 1),
                           random_norm(random, random.integer(1, 9) * random.integer(1, 9)));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        RowNormArgs args;
        args.in = features_around(problem, random, problem.integer("n"));
        args.centred = problem.integer("centred") == 1;
        if (problem.integer("weight")) args.weight = signed_tensor(random, {problem.integer("c")});
        if (problem.integer("bias")) args.bias = signed_tensor(random, {problem.integer("c")});
        check_norm_rows(&KernelTables::row_norm, problem, args);
      });
}

TEST(Conformance, GroupNorm) {
  for_each_problem(
      "group_norm", 80,
      [](Random& random) {
        const std::int64_t groups = random.integer(1, 8);
        return fmt::format("group_norm:shape=90x91:batch={}:n={}:order={}:groups={}:{}", random.integer(1, 5),
                           random.integer(0, 6) ? random.integer(0, 300) : 12000,  // of more than one part
                           random.integer(0, 1) ? "sorted" : "shuffled", groups,
                           random_norm(random, groups * random.integer(1, 8)));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        GroupNormArgs args;
        args.coordinates = sites_of(problem, random);
        args.in = features_around(problem, random, args.coordinates.size());
        args.groups = problem.integer("groups");
        if (problem.integer("weight")) args.weight = signed_tensor(random, {args.in.size(1)});
        if (problem.integer("bias")) args.bias = signed_tensor(random, {args.in.size(1)});
        check_norm_rows(&KernelTables::group_norm, problem, args);
      });
}

}  // namespace
}  // namespace aerogel::testing
