// Pools, affine, moments, concatenation, sums and gathers against the reference rows.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

constexpr double kEps = 0x1p-24;

/// Features of the problem's dtype; where it asks for specials, about one in a hundred is NaN, ±∞ or −0.
Tensor features_of(const ProblemString& problem, Random& random, const Dims& shape) {
  const Tensor tensor = signed_tensor(random, shape);
  if (problem.integer("specials")) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const float specials[] = {std::nanf(""), kInf, -kInf, -0.0f};
    for (std::int64_t i = 0; i < tensor.numel() / 100 + 1 && tensor.numel() > 0; ++i) {
      tensor.mutable_data<float>()[random.integer(0, tensor.numel() - 1)] = specials[random.integer(0, 3)];
    }
  }
  return tensor.to(dtype_of(problem));
}

/// `bound` for the arithmetic of each side, and that both rounded their result to the dtype.
std::vector<double> bounds(double bound, const std::vector<double>& expected, DType dtype) {
  std::vector<double> result;
  for (const double value : expected)
    result.push_back(bound + (dtype == DType::kF32 ? 0 : 2 * rounding_of(dtype, value)));
  return result;
}

constexpr const char* kPoolNames[] = {"max", "avg", "sum"};

std::string random_pool(Random& random) { return kPoolNames[random.integer(0, 2)]; }

PoolKind pool_kind_of(const ProblemString& problem) {
  const auto* found = std::find(std::begin(kPoolNames), std::end(kPoolNames), problem.text("pool"));
  if (found == std::end(kPoolNames)) throw InvalidArgument("[problem] pool must be max, avg or sum");
  return static_cast<PoolKind>(found - std::begin(kPoolNames));
}

std::string rows_and_channels(Random& random) {
  return fmt::format("{}:n={}:c={}:specials={}:seed={}", random_dtype(random),
                     random.integer(0, 9) ? random.integer(1, 5000) : 0, random.integer(1, 70),
                     static_cast<int>(random.integer(0, 2) == 0), random.integer(0, 1 << 30));
}

TEST(Conformance, Pool) {
  for_each_problem(
      "pool", 250,
      [](Random& random) {
        return fmt::format("pool:{}:{}:c={}:pool={}:zero={}:specials={}", random_geometry(random),
                           random_dtype(random), random.integer(1, 40), random_pool(random),
                           random.integer(0, 1), static_cast<int>(random.integer(0, 2) == 0));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const KernelSpec spec = spec_of(problem);
        const auto map = reference_map(sites_of(problem, random), spec);
        PoolArgs args;
        args.kind = pool_kind_of(problem);
        args.identity = problem.integer("zero") ? 0.0f : -std::numeric_limits<float>::infinity();
        args.map = map.get();
        args.in = features_of(problem, random, {map->n_in, problem.integer("c")});
        args.out = poisoned({map->n_out, problem.integer("c")}, dtype_of(problem));
        run_row(reference_row<PoolArgs>(&KernelTables::pool), args, 1);
        const std::vector<double> expected = doubles(args.out);
        // At most K values of at most 1 in size, added one by one; a maximum is exact.
        const auto volume = static_cast<double>(spec.volume());
        const bool is_max = args.kind == PoolKind::kMax;
        const double bound =
            is_max ? 0x1p-140 : (volume + 2) * (args.kind == PoolKind::kSum ? volume : 2) * kEps;
        for_each_row<PoolArgs>(&KernelTables::pool, [&](const Kernel<PoolArgs>& row) {
          args.out = poisoned(args.out.shape(), dtype_of(problem));
          run_row(row, args, 1);
          expect_within(args.out, expected,
                        bounds(bound, expected, is_max ? DType::kF32 : dtype_of(problem)));
          const Tensor one = args.out;
          args.out = poisoned(args.out.shape(), dtype_of(problem));
          run_row(row, args, 3);
          expect_same_bits(args.out, one, "three threads");
        });
      });
}

TEST(Conformance, GlobalPool) {
  for_each_problem(
      "global_pool", 60,
      [](Random& random) {
        return fmt::format("global_pool:{}:shape=9x9:batch={}:n={}:order={}:c={}:pool={}:specials={}:seed={}",
                           random_dtype(random), random.integer(1, 5), random.integer(0, 200),
                           random.integer(0, 1) ? "sorted" : "shuffled", random.integer(1, 40),
                           random_pool(random), static_cast<int>(random.integer(0, 2) == 0),
                           random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        GlobalPoolArgs args;
        args.kind = pool_kind_of(problem);
        args.identity = -std::numeric_limits<float>::infinity();
        args.coordinates = sites_of(problem, random);
        args.in = features_of(problem, random, {args.coordinates.size(), problem.integer("c")});
        args.out = poisoned({problem.integer("batch"), problem.integer("c")}, dtype_of(problem));
        run_row(reference_row<GlobalPoolArgs>(&KernelTables::global_pool), args, 1);
        const std::vector<double> expected = doubles(args.out);
        for_each_row<GlobalPoolArgs>(&KernelTables::global_pool, [&](const Kernel<GlobalPoolArgs>& row) {
          args.out = poisoned(args.out.shape(), dtype_of(problem));
          run_row(row, args, 3);
          expect_within(args.out, expected, bounds(400 * kEps, expected, dtype_of(problem)));
        });
      });
}

TEST(Conformance, Affine) {
  for_each_problem(
      "affine", 100,
      [](Random& random) {
        return fmt::format("affine:{}:scale={}:shift={}:residual={}:relu={}:inplace={}",
                           rows_and_channels(random), random.integer(0, 1), random.integer(0, 1),
                           random.integer(0, 1), random.integer(0, 1), random.integer(0, 1));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const std::int64_t c = problem.integer("c");
        AffineArgs args;
        args.in = features_of(problem, random, {problem.integer("n"), c});
        if (problem.integer("scale")) args.scale = signed_tensor(random, {c});
        if (problem.integer("shift")) args.shift = signed_tensor(random, {c});
        if (problem.integer("residual"))
          args.residual = signed_tensor(random, args.in.shape(), dtype_of(problem));
        args.activation = problem.integer("relu") ? Activation::kRelu : Activation::kNone;
        args.out = poisoned(args.in.shape(), args.in.dtype());
        run_row(reference_row<AffineArgs>(&KernelTables::affine), args, 1);
        const std::vector<double> expected = doubles(args.out);
        const Tensor in = args.in;
        for_each_row<AffineArgs>(&KernelTables::affine, [&](const Kernel<AffineArgs>& row) {
          args.in = in.clone();
          args.out = problem.integer("inplace") ? args.in : poisoned(in.shape(), in.dtype());
          run_row(row, args, 3);
          expect_within(args.out, expected,
                        bounds(3 * 4 * kEps, expected, in.dtype()));  // three terms up to 1
        });
      });
}

TEST(Conformance, Moments) {
  for_each_problem(
      "moments", 40,
      [](Random& random) {
        return fmt::format("moments:{}:n={}:c={}:offset={}:seed={}", random_dtype(random),
                           random.integer(1, 20000), random.integer(1, 70), random.integer(0, 1000),
                           random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const std::int64_t c = problem.integer("c");
        MomentsArgs args;
        args.in = signed_tensor(random, {problem.integer("n"), c});
        const double offset = problem.number("offset");  // a large mean must not eat the variance
        for (std::int64_t i = 0; i < args.in.numel(); ++i)
          args.in.mutable_data<float>()[i] += static_cast<float>(offset);
        args.in = args.in.to(dtype_of(problem));
        args.mean = Tensor::zeros({c}, DType::kF64);
        args.var = Tensor::zeros({c}, DType::kF64);
        run_row(reference_row<MomentsArgs>(&KernelTables::moments), args, 1);
        const Tensor mean = args.mean;
        const Tensor var = args.var;
        for_each_row<MomentsArgs>(&KernelTables::moments, [&](const Kernel<MomentsArgs>& row) {
          std::vector<Tensor> means;
          for (const int threads : {1, 3}) {
            args.mean = Tensor::zeros({c}, DType::kF64);
            args.var = Tensor::zeros({c}, DType::kF64);
            run_row(row, args, threads);
            for (std::int64_t i = 0; i < c; ++i) {
              EXPECT_NEAR(args.mean.data<double>()[i], mean.data<double>()[i], 1e-12 * (1 + offset));
              EXPECT_NEAR(args.var.data<double>()[i], var.data<double>()[i],
                          1e-11 * (1 + offset * offset) + 1e-9);
            }
            means.push_back(args.var);
          }
          expect_same_bits(means[1], means[0], "variance with other thread counts");
        });
      });
}

TEST(Conformance, Concat) {
  for_each_problem(
      "concat", 40,
      [](Random& random) {
        return fmt::format("concat:{}:n={}:parts={}:seed={}", random_dtype(random), random.integer(0, 700),
                           random.integer(1, 4), random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        ConcatArgs args;
        std::int64_t width = 0;
        for (std::int64_t i = 0; i < problem.integer("parts"); ++i) {
          args.parts.push_back(
              signed_tensor(random, {problem.integer("n"), random.integer(1, 40)}, dtype_of(problem)));
          width += args.parts.back().size(1);
        }
        args.out = poisoned({problem.integer("n"), width}, dtype_of(problem));
        run_row(reference_row<ConcatArgs>(&KernelTables::concat), args, 1);
        const Tensor expected = args.out;
        for_each_row<ConcatArgs>(&KernelTables::concat, [&](const Kernel<ConcatArgs>& row) {
          args.out = poisoned(expected.shape(), expected.dtype());
          run_row(row, args, 3);
          expect_same_bits(args.out, expected, "concatenation");
        });
      });
}

TEST(Conformance, GatherRows) {
  for_each_problem(
      "gather_rows", 40, [](Random& random) { return "gather_rows:" + rows_and_channels(random); },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const std::int64_t n = problem.integer("n");
        GatherRowsArgs args;
        args.in = features_of(problem, random, {n, problem.integer("c")});
        args.ids = Tensor::empty({random.integer(0, 3000)}, DType::kI64);
        for (std::int64_t p = 0; p < args.ids.size(0); ++p) {
          args.ids.mutable_data<std::int64_t>()[p] = random.integer(-1, n - 1);
        }
        args.out = poisoned({args.ids.size(0), problem.integer("c")}, dtype_of(problem));
        run_row(reference_row<GatherRowsArgs>(&KernelTables::gather_rows), args, 1);
        const Tensor expected = args.out;
        for_each_row<GatherRowsArgs>(&KernelTables::gather_rows, [&](const Kernel<GatherRowsArgs>& row) {
          args.out = poisoned(expected.shape(), expected.dtype());
          run_row(row, args, 3);
          expect_same_bits(args.out, expected, "gathered rows");
        });
      });
}

}  // namespace
}  // namespace aerogel::testing
