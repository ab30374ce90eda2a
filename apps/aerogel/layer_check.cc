#include "layer_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/reference/sparse_conv.h"
#include "cli.h"
#include "geometry.h"

namespace aerogel::cli {

namespace {

constexpr double kUnitRoundoff = 0x1p-24;
constexpr std::int64_t kBlock = 256;  // rows between looks at Ctrl-C

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

}  // namespace

LayerVerdict check_layer(const SparseConvArgs& args, std::int64_t most_rows, std::uint64_t seed) {
  const std::vector<std::int64_t> rows = draw_rows(args.problem.n_out, most_rows, seed);
  const std::int64_t channels = args.problem.c_out;
  const double terms = static_cast<double>(args.problem.spec.volume() * args.problem.c_in);
  const double bound = (4 * std::sqrt(terms) + 8) * kUnitRoundoff;
  LayerVerdict verdict;
  verdict.rows = static_cast<std::int64_t>(rows.size());
  std::vector<double> expected(static_cast<std::size_t>(kBlock * channels));
  std::vector<double> abs_sum(expected.size());
  double squared_error = 0;
  double squared_norm = 0;
  const float* out = args.out.data<float>();
  for (std::int64_t begin = 0; begin < verdict.rows; begin += kBlock) {
    throw_if_interrupted();
    const std::int64_t count = std::min(kBlock, verdict.rows - begin);
    const std::span<const std::int64_t> block(rows.data() + begin, static_cast<std::size_t>(count));
    reference::sparse_conv_rows(args, block, expected.data(), abs_sum.data());
    for (std::int64_t i = 0; i < count * channels; ++i) {
      const double want = expected[static_cast<std::size_t>(i)];
      const double got =
          static_cast<double>(out[block[static_cast<std::size_t>(i / channels)] * channels + i % channels]);
      if (std::isnan(want) && std::isnan(got)) continue;
      const double error = want == got ? 0 : std::abs(got - want);
      const double tolerance = bound * abs_sum[static_cast<std::size_t>(i)];
      if (!(error <= tolerance)) verdict.passed = false;
      const double ratio = error == 0 ? 0 : error / tolerance;
      if (!std::isnan(verdict.worst) && !(ratio <= verdict.worst)) verdict.worst = ratio;  // NaN stays
      squared_error += error * error;
      squared_norm += want * want;
    }
  }
  verdict.relative_l2 = squared_norm > 0 ? std::sqrt(squared_error / squared_norm) : std::sqrt(squared_error);
  return verdict;
}

}  // namespace aerogel::cli
