#include "bench_measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/plan.h"

#include "backend/reference/sparse_conv.h"
#include "cli.h"
#include "core/parallel.h"
#include "geometry.h"

namespace aerogel::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSamplesWanted = 20;  // clean ones
constexpr std::int64_t kSamplesEnough = 100;
constexpr std::int64_t kRotatedBytes = std::int64_t{1} << 30;
constexpr std::int64_t kCheckedRows = 256;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Tensor signed_uniform(const Dims& shape, std::uint64_t seed) {
  Tensor tensor = Tensor::empty(shape, DType::kF32);
  auto* values = tensor.mutable_data<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    values[i] = static_cast<float>(unit(seed, static_cast<std::uint64_t>(i)) * 2 - 1);
  }
  return tensor;
}

/// The value below which a share `q` of the sorted samples lies.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::int64_t last_level_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? bytes : std::int64_t{32} << 20;
}

/// The layer as the public verbs run it.
class Layer {
 public:
  explicit Layer(const BenchCase& bench) : bench_(bench) {
    fine_ = Coordinates::create(bench.sites->indices, bench.sites->spatial_shape, bench.sites->batch_size);
    Dims shape{bench.c_out};
    for (const std::int64_t extent : bench.spec.kernel) shape.push_back(extent);
    shape.push_back(bench.c_in);
    weight_ = ConvWeight(signed_uniform(shape, bench.seed + 1));
    input_sites_ = fine_;
    if (bench.spec.kind == ConvKind::kInverse) {
      KernelSpec regular = bench.spec;
      regular.kind = ConvKind::kRegular;
      input_sites_ = build_kernel_map(fine_, regular, bench.exec)->new_coordinates;
    }
  }

  const Coordinates& input_sites() const { return input_sites_; }

  SparseTensor run(const Tensor& features, const ExecOptions& exec) const {
    const SparseTensor in{features, input_sites_};
    const KernelSpec& spec = bench_.spec;
    const ConvOptions options{spec.stride, spec.padding, spec.dilation, {}};
    switch (spec.kind) {
      case ConvKind::kSubmanifold:
        return subm_conv(in, weight_, {.dilation = spec.dilation}, {}, exec);
      case ConvKind::kInverse:
        return inverse_conv(in, fine_, weight_, options, {}, exec);
      case ConvKind::kTransposed:
        return transposed_conv(in, weight_, options, {}, exec);
      default:
        return sparse_conv(in, weight_, options, {}, exec);
    }
  }

 private:
  const BenchCase& bench_;
  Coordinates fine_;
  Coordinates input_sites_;
  ConvWeight weight_;
};

/// √(Σ(got − want)² / Σwant²) over rows spread across the output.
double relative_l2(const SparseConvArgs& args) {
  const std::int64_t n = args.problem.n_out;
  const std::int64_t count = std::min(n, kCheckedRows);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(i * n / count);
  std::vector<double> want(static_cast<std::size_t>(count * args.problem.c_out));
  std::vector<double> abs_sum(want.size());
  reference::sparse_conv_rows(args, rows, want.data(), abs_sum.data());
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::int64_t row = rows[i / static_cast<std::size_t>(args.problem.c_out)];
    const auto column = static_cast<std::int64_t>(i % static_cast<std::size_t>(args.problem.c_out));
    const double got = double{args.out.data<float>()[row * args.problem.c_out + column]};
    error += (got - want[i]) * (got - want[i]);
    norm += want[i] * want[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

}  // namespace

nlohmann::json BenchResult::json() const {
  const std::time_t now = std::time(nullptr);
  return {{"problem", problem},
          {"geometry", geometry},
          {"kernel", kernel},
          {"device", device},
          {"threads", threads},
          {"sites", sites},
          {"pairs", pairs},
          {"c_in", c_in},
          {"c_out", c_out},
          {"map_ms", map_ms},
          {"first_layer_ms", map_ms + median_ms},
          {"median_ms", median_ms},
          {"p10_ms", p10_ms},
          {"p90_ms", p90_ms},
          {"gflops", gflops},
          {"share_of_peak", share_of_peak()},
          {"peak_kind", "f32_fma"},
          {"peak_gflops", peak_gflops},
          {"rel_l2", rel_l2},
          {"samples_kept", samples_kept},
          {"samples_tried", samples_tried},
          {"processor", cpu_info().model},
          {"instruction_set", cpu_info().instruction_set},
          {"version", std::string(version())},
          {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(now))}};
}

double time_map_ms(const BenchSites& sites, const KernelSpec& spec, const ExecOptions& exec) {
  if (spec.is_pointwise()) return 0;
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 5 || (times.size() < 21 && seconds_since(start) < 1)) {
    throw_if_interrupted();
    const auto begin = Clock::now();
    const Coordinates set = Coordinates::create(sites.indices, sites.spatial_shape, sites.batch_size);
    static_cast<void>(build_kernel_map(set, spec, exec));
    times.push_back(seconds_since(begin) * 1e3);
  }
  std::sort(times.begin(), times.end());
  return quantile(times, 0.5);
}

BenchResult measure(const BenchCase& bench, cpu::PeakProbe& probe, double map_ms) {
  const Layer layer(bench);
  const std::int64_t n_in = layer.input_sites().size();
  BenchResult result;
  result.geometry = bench.sites->name;
  result.device = std::string(backend_name(bench.exec.backend));
  result.threads = resolve_threads(bench.exec.threads);
  result.c_in = bench.c_in;
  result.c_out = bench.c_out;
  result.map_ms = map_ms;

  const std::int64_t bytes = std::max<std::int64_t>(n_in * bench.c_in * 4, 1);
  const std::int64_t wanted = 2 * last_level_cache_bytes() / bytes + 1;
  const std::int64_t buffers = std::clamp<std::int64_t>(std::min(wanted, kRotatedBytes / bytes), 1, 64);
  std::vector<Tensor> features{signed_uniform({n_in, bench.c_in}, bench.seed)};
  while (static_cast<std::int64_t>(features.size()) < buffers) features.push_back(features[0].clone());

  double flop = 0;
  ExecOptions checked = bench.exec;
  checked.observer = [&](const OpRecord& record) {  // the first run also builds the map and packs the weights
    result.problem = record.problem;
    result.kernel = record.kernel;
    result.sites = record.sites_out;
    result.pairs = record.pairs > 0 ? record.pairs : record.sites_out;
    flop = record.flop;
    result.rel_l2 = relative_l2(*record.conv);
  };
  static_cast<void>(layer.run(features[0], checked));
  const ExecOptions& exec = bench.exec;
  for (int warm_up = 0; warm_up < 2; ++warm_up) static_cast<void>(layer.run(features.back(), exec));

  std::vector<double> clean;
  double best = 0;
  const auto start = Clock::now();
  while (static_cast<std::int64_t>(clean.size()) < kSamplesEnough &&
         seconds_since(start) < bench.max_seconds) {
    throw_if_interrupted();
    if (static_cast<std::int64_t>(clean.size()) >= kSamplesWanted &&
        seconds_since(start) > bench.max_seconds / 4)
      break;
    const Tensor& input = features[static_cast<std::size_t>(result.samples_tried % buffers)];
    const cpu::PeakProbe::Sample sample = probe.time([&] { static_cast<void>(layer.run(input, exec)); });
    ++result.samples_tried;
    const double ms = sample.seconds * 1e3;
    if (sample.clean()) clean.push_back(ms);
    if (result.samples_tried == 1 || ms < best) best = ms;
  }
  result.samples_kept = static_cast<std::int64_t>(clean.size());
  if (clean.empty()) clean.push_back(best);
  std::sort(clean.begin(), clean.end());
  result.median_ms = quantile(clean, 0.5);
  result.p10_ms = quantile(clean, 0.1);
  result.p90_ms = quantile(clean, 0.9);
  result.gflops = result.median_ms > 0 ? flop / result.median_ms * 1e-6 : 0;
  result.peak_gflops = probe.peak_gflops();
  return result;
}

}  // namespace aerogel::cli
