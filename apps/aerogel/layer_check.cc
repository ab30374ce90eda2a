#include "layer_check.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "backend/reference/sparse_conv.h"
#include "cli.h"
#include "core/parallel.h"
#include "geometry.h"

namespace aerogel::cli {

namespace {

constexpr double kUnitRoundoff = 0x1p-24;
constexpr std::int64_t kBlock = 32;  // rows of a thread, between looks at Ctrl-C
constexpr std::int64_t kLeastRows = 16;

/// One row of each of `count` equal stretches: distinct, sorted, spread over the whole set.
std::vector<std::int64_t> draw_rows(std::int64_t rows, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> drawn;
  count = std::min(rows, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = i * rows / count;
    const std::int64_t end = (i + 1) * rows / count;
    drawn.push_back(begin + static_cast<std::int64_t>(unit(seed, static_cast<std::uint64_t>(i)) *
                                                      static_cast<double>(end - begin)));
  }
  return drawn;
}

/// Rows whose products are `terms` in all, about.
std::int64_t affordable_rows(const SparseConvArgs& args, std::int64_t terms) {
  const ConvProblem& problem = args.problem;
  const double pairs = args.map == nullptr ? static_cast<double>(problem.n_out)
                                           : static_cast<double>(args.map->in_rows.numel());
  const double all = pairs * static_cast<double>(problem.c_in) * static_cast<double>(problem.c_out) /
                     static_cast<double>(problem.groups);
  if (all <= static_cast<double>(terms)) return problem.n_out;
  const double share = static_cast<double>(terms) / all;
  return std::max(kLeastRows, static_cast<std::int64_t>(share * static_cast<double>(problem.n_out)));
}

LayerVerdict check_rows(const SparseConvArgs& args, std::span<const std::int64_t> rows) {
  const std::int64_t channels = args.problem.c_out;
  const double terms = static_cast<double>(args.problem.spec.volume() * args.problem.c_in);
  const double bound = (4 * std::sqrt(terms) + 8) * kUnitRoundoff;
  LayerVerdict verdict;
  verdict.rows = std::ssize(rows);
  std::vector<double> expected(rows.size() * static_cast<std::size_t>(channels));
  std::vector<double> abs_sum(expected.size());
  reference::sparse_conv_rows(args, rows, expected.data(), abs_sum.data());
  const float* out = args.out.data<float>();
  for (std::int64_t i = 0; i < verdict.rows * channels; ++i) {
    const double want = expected[static_cast<std::size_t>(i)];
    const double got =
        static_cast<double>(out[rows[static_cast<std::size_t>(i / channels)] * channels + i % channels]);
    if (std::isnan(want) && std::isnan(got)) continue;
    const double error = want == got ? 0 : std::abs(got - want);
    const double tolerance = bound * abs_sum[static_cast<std::size_t>(i)];
    if (!(error <= tolerance)) verdict.passed = false;
    const double ratio = error == 0 ? 0 : error / tolerance;
    if (!std::isnan(verdict.worst) && !(ratio <= verdict.worst)) verdict.worst = ratio;  // NaN stays
    verdict.squared_error += error * error;
    verdict.squared_norm += want * want;
  }
  return verdict;
}

}  // namespace

double LayerVerdict::relative_l2() const {
  return std::sqrt(squared_norm > 0 ? squared_error / squared_norm : squared_error);
}

void LayerVerdict::join(const LayerVerdict& other) {
  rows += other.rows;
  if (!std::isnan(worst) && !(other.worst <= worst)) worst = other.worst;  // NaN stays
  squared_error += other.squared_error;
  squared_norm += other.squared_norm;
  passed = passed && other.passed;
}

LayerVerdict check_layer(const SparseConvArgs& args, const CheckSample& sample, int threads) {
  const std::vector<std::int64_t> rows =
      draw_rows(args.problem.n_out, std::min(sample.rows, affordable_rows(args, sample.terms)), sample.seed);
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<LayerVerdict> verdicts(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  parallel_chunks(count, kBlock, threads, [&](std::int64_t begin, std::int64_t end) {
    throw_if_interrupted();
    verdicts[static_cast<std::size_t>(begin / kBlock)] =
        check_rows(args, {rows.data() + begin, static_cast<std::size_t>(end - begin)});
  });
  LayerVerdict verdict;
  for (const LayerVerdict& part : verdicts) verdict.join(part);
  return verdict;
}

}  // namespace aerogel::cli
