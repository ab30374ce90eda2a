// Every convolution and linear row against the double sums, on signed data. The bound follows from the sum:
// an f32 sum of n terms errs by at most n · 2^-24 · Σ|terms|, whatever its order, and by far less with n / 8
// partial sums; f16 and bf16 add one rounding of the result.
#include "backend/reference/sparse_conv.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

constexpr double kEps = 0x1p-24;

std::string random_channels(Random& random) {
  // Odd counts, vector multiples and their neighbours, and the few channels of first layers.
  constexpr std::int64_t kCounts[] = {1,  2,  3,  4,  5,  7,  8,  9,  15,  16,
                                      17, 31, 32, 33, 48, 64, 65, 96, 128, 130};
  const auto pick = [&](std::int64_t most = 19) { return kCounts[random.integer(0, most)]; };
  std::string channels;
  switch (random.integer(0, 5)) {
    case 0: {  // depthwise
      const std::int64_t c = pick();
      channels = fmt::format("cin={}:cout={}:groups={}", c, c, c);
      break;
    }
    case 1: {
      const std::int64_t groups = pick(5) + 1;
      channels = fmt::format("cin={}:cout={}:groups={}", pick(11) * groups, pick(11) * groups, groups);
      break;
    }
    default:
      channels = fmt::format("cin={}:cout={}:groups=1", pick(), pick());
  }
  const std::string dtype = random.integer(0, 4) == 0
                                ? fmt::format("dtype=i8:requantise={}", random.integer(0, 1))
                                : random_dtype(random);
  return fmt::format("{}:{}:bias={}:scale={}:shift={}:residual={}:relu={}", dtype, channels,
                     random.integer(0, 1), random.integer(0, 1), random.integer(0, 1), random.integer(0, 1),
                     random.integer(0, 1));
}

void check_conv_rows(const ProblemString& problem, Table<SparseConvArgs> table, const KernelMap* map,
                     std::int64_t n_in, std::int64_t n_out, const KernelSpec& spec, Random& random) {
  SparseConvArgs args;
  ConvProblem& numbers = args.problem;
  numbers.spec = spec;
  numbers.n_in = n_in;
  numbers.n_out = n_out;
  numbers.pairs = map ? map->pairs() : n_in;
  numbers.c_in = problem.integer("cin");
  numbers.c_out = problem.integer("cout");
  numbers.groups = problem.integer("groups");
  args.map = map;
  numbers.dtype = dtype_of(problem);
  const bool is_i8 = numbers.dtype == DType::kI8;
  const DType beside = is_i8 ? DType::kF32 : numbers.dtype;
  const auto values = [&](const Dims& shape) {
    return is_i8 ? integer_tensor(random, shape) : signed_tensor(random, shape, numbers.dtype);
  };
  args.in = values({n_in, numbers.c_in});
  Dims shape{numbers.c_out};
  for (const std::int64_t extent : spec.kernel) shape.push_back(extent);
  shape.push_back(numbers.c_in / numbers.groups);
  args.weight = ConvWeight(values(shape));
  if (is_i8) {
    Quantization& scales = args.epilogue.quantization;
    scales.in_scale = 1.0F / 127;
    scales.weight_scale = signed_tensor(random, {numbers.c_out});
    for (std::int64_t n = 0; n < numbers.c_out; ++n) {
      float& scale = scales.weight_scale.mutable_data<float>()[n];
      scale = (1.5F + scale) / 127;
    }
    numbers.requantised = problem.integer("requantise") == 1;
    if (numbers.requantised) scales.out_scale = 0.03F;
  }
  if (problem.integer("bias")) args.epilogue.bias = signed_tensor(random, {numbers.c_out});
  if (problem.integer("scale")) args.epilogue.scale = signed_tensor(random, {numbers.c_out});
  if (problem.integer("shift")) args.epilogue.shift = signed_tensor(random, {numbers.c_out});
  if (problem.integer("residual"))
    args.epilogue.residual = signed_tensor(random, {n_out, numbers.c_out}, beside);
  if (problem.integer("relu")) args.epilogue.activation = Activation::kRelu;
  numbers.bias = args.epilogue.bias.defined();
  numbers.affine = args.epilogue.scale.defined() || args.epilogue.shift.defined();
  numbers.residual = args.epilogue.residual.defined();
  numbers.activation = args.epilogue.activation;

  std::vector<std::int64_t> rows(static_cast<std::size_t>(n_out));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<double> expected(static_cast<std::size_t>(n_out * numbers.c_out));
  std::vector<double> abs_sum(expected.size());
  reference::sparse_conv_rows(args, rows, expected.data(), abs_sum.data());
  const double terms = static_cast<double>(spec.volume() * numbers.c_in / numbers.groups + 4);
  std::vector<double> bound(expected.size());
  for (std::size_t i = 0; i < bound.size(); ++i) {
    bound[i] = terms * kEps * abs_sum[i];
    if (is_i8) bound[i] = 16 * kEps * abs_sum[i];  // the sum is exact, its conversion and factor are not
    if (numbers.requantised) {
      const double scale = args.epilogue.quantization.out_scale;
      expected[i] = std::clamp(expected[i] / scale, -128.0, 127.0);
      bound[i] = 0.5 + bound[i] / scale;
    }
    if (beside != DType::kF32) bound[i] += (1 + 0x1p-10) * rounding_of(numbers.dtype, expected[i]);
  }

  const DType result = numbers.requantised ? DType::kI8 : beside;
  bool taken = false;
  for_each_row<SparseConvArgs>(table, [&](const Kernel<SparseConvArgs>& row) {
    args.out = poisoned({n_out, numbers.c_out}, result);
    if (!row.supports(args).empty()) return;
    taken = true;
    run_row(row, args, 1);
    expect_within(args.out, expected, bound);
    const Tensor one_thread = args.out;
    for (const int threads : {2, 5}) {
      args.out = poisoned({n_out, numbers.c_out}, result);
      run_row(row, args, threads);
      expect_same_bits(args.out, one_thread, "result with other thread counts");
    }
  });
  EXPECT_TRUE(taken) << "only the reference would take it";
}

/// Channel counts past a vector, every part of the epilogue.
std::vector<std::string> rare_convolutions() {
  std::vector<std::string> problems;
  for (const std::string& geometry : rare_geometries()) {
    problems.push_back("sparse_conv:" + geometry +
                       ":cin=5:cout=17:groups=1:bias=1:scale=1:shift=1:residual=1:relu=1");
  }
  return problems;
}

TEST(Conformance, SparseConv) {
  for_each_problem(
      "sparse_conv", 250,
      [](Random& random) {
        return fmt::format("sparse_conv:{}:{}", random_geometry(random), random_channels(random));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const KernelSpec spec = spec_of(problem);
        const auto map = reference_map(sites_of(problem, random), spec);
        check_conv_rows(problem, &KernelTables::sparse_conv, map.get(), map->n_in, map->n_out, spec, random);
      },
      rare_convolutions());
}

TEST(Conformance, Linear) {
  for_each_problem(
      "linear", 120,
      [](Random& random) {
        return fmt::format("linear:n={}:{}:seed={}", random.integer(0, 300), random_channels(random),
                           random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const std::int64_t n = problem.integer("n");
        check_conv_rows(problem, &KernelTables::linear, nullptr, n, n,
                        KernelSpec::make(ConvKind::kRegular, {1}), random);
      });
}

}  // namespace
}  // namespace aerogel::testing
