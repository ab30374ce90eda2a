#include "bench_measure.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/plan.h"

#include "cli.h"
#include "core/parallel.h"
#include "geometry.h"
#include "layer_check.h"

namespace aerogel::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMostRotatedBytes = std::int64_t{1} << 30;
constexpr std::int64_t kCheckedRows = 256;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The value below which a share `q` of the sorted samples lies.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::int64_t last_level_cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const std::int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return bytes;
#endif
  return std::int64_t{32} << 20;
}

/// When to stop: `enough` clean samples, or `wanted` ones after a quarter of the time, or the time.
struct Effort {
  std::int64_t wanted = 20;
  std::int64_t enough = 100;
  double max_seconds = 10;
};

/// `first_ms` stands if there is no time for any sample.
Timing sample(cpu::PeakProbe& probe, const Effort& effort, double first_ms,
              const std::function<void()>& prepare, const std::function<void()>& body) {
  Timing timing;
  std::vector<double> clean;
  double best = HUGE_VAL;
  const auto start = Clock::now();
  const auto done = [&] {
    const double seconds = seconds_since(start);
    return timing.kept >= effort.enough || seconds >= effort.max_seconds ||
           (timing.kept >= effort.wanted && seconds >= effort.max_seconds / 4);
  };
  while (!done()) {
    throw_if_interrupted();
    prepare();
    const cpu::PeakProbe::Sample sample = probe.time(body);
    const double ms = sample.seconds * 1e3;
    ++timing.tried;
    best = std::min(best, ms);
    if (sample.clean()) {
      ++timing.kept;
      clean.push_back(ms);
    }
  }
  if (clean.empty()) clean.push_back(timing.tried > 0 ? best : first_ms);
  std::sort(clean.begin(), clean.end());
  timing.median_ms = quantile(clean, 0.5);
  timing.p10_ms = quantile(clean, 0.1);
  timing.p90_ms = quantile(clean, 0.9);
  return timing;
}

/// A coordinate set of the case, and the sites that the layer reads: others for an inverse layer.
struct LayerSites {
  Coordinates fine;
  Coordinates input;
};

LayerSites make_sites(const BenchCase& bench) {
  const BenchSites& sites = *bench.sites;
  LayerSites made;
  made.fine = Coordinates::create(sites.indices, sites.spatial_shape, sites.batch_size);
  made.input = made.fine;
  if (bench.spec.kind == ConvKind::kInverse && !bench.spec.is_pointwise()) {
    KernelSpec regular = bench.spec;
    regular.kind = ConvKind::kRegular;
    made.input = build_kernel_map(made.fine, regular, bench.exec)->new_coordinates;
  }
  return made;
}

SparseTensor run(const BenchCase& bench, const LayerSites& sites, const ConvWeight& weight,
                 const Tensor& features, const ExecOptions& exec) {
  const SparseTensor in{features, sites.input};
  const KernelSpec& spec = bench.spec;
  const ConvOptions options{spec.stride, spec.padding, spec.dilation, spec.output_padding};
  switch (spec.kind) {
    case ConvKind::kSubmanifold:
      return subm_conv(in, weight, {.dilation = spec.dilation}, {}, exec);
    case ConvKind::kInverse:
      return inverse_conv(in, sites.fine, weight, {spec.stride, spec.padding, spec.dilation, {}}, {}, exec);
    case ConvKind::kTransposed:
      return transposed_conv(in, weight, options, {}, exec);
    default:
      return sparse_conv(in, weight, {spec.stride, spec.padding, spec.dilation, {}}, {}, exec);
  }
}

ConvWeight random_weight(const BenchCase& bench) {
  Dims shape{bench.c_out};
  for (const std::int64_t extent : bench.spec.kernel) shape.push_back(extent);
  shape.push_back(bench.c_in);
  const Tensor weight = Tensor::empty(shape, DType::kF32);
  auto* values = weight.mutable_data<float>();
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    values[i] = static_cast<float>(unit(bench.seed + 1, static_cast<std::uint64_t>(i)) * 2 - 1);
  }
  return {weight};
}

}  // namespace

std::string BenchResult::json_line() const {
  nlohmann::ordered_json line;
  if (!model.empty()) {
    line["model"] = model;
    line["layer"] = layer;
    line["count"] = count;
    line["typical_voxels"] = typical_sites;
  }
  line["problem"] = problem;
  line["geometry"] = geometry;
  line["kernel"] = kernel;
  line["device"] = device;
  line["threads"] = threads;
  line["sites"] = sites;
  line["sites_out"] = sites_out;
  line["pairs"] = pairs;
  line["c_in"] = c_in;
  line["c_out"] = c_out;
  line["map_ms"] = map.median_ms;
  line["map_samples_kept"] = map.kept;
  line["first_layer_ms"] = first_layer.median_ms;
  line["first_layer_samples_kept"] = first_layer.kept;
  line["median_ms"] = conv.median_ms;
  line["p10_ms"] = conv.p10_ms;
  line["p90_ms"] = conv.p90_ms;
  line["gflops"] = gflops;
  line["share_of_peak"] = share_of_peak();
  line["peak_kind"] = "f32_fma";
  line["peak_gflops"] = peak_gflops;
  line["rel_l2"] = rel_l2;
  line["samples_kept"] = conv.kept;
  line["samples_tried"] = conv.tried;
  const CpuInfo cpu = cpu_info();
  line["processor"] = cpu.model;
  line["instruction_set"] = cpu.instruction_set;
  line["version"] = std::string(version());
  line["date"] = date;
  return line.dump();
}

std::vector<Tensor> FeaturePool::views(std::int64_t rows, std::int64_t channels, std::uint64_t seed) {
  constexpr std::int64_t kLine = 16;  // floats of a cache line: every view begins on one
  const std::int64_t stride = std::max<std::int64_t>((rows * channels + kLine - 1) / kLine * kLine, kLine);
  const std::int64_t bytes = stride * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t count =
      std::max<std::int64_t>(std::min(last_level_cache_bytes() / bytes + 1, kMostRotatedBytes / bytes), 1);
  if (!values_.defined() || values_.numel() < count * stride || seed != seed_) {
    values_ = {};  // before the larger one is asked for
    values_ = Tensor::empty({count * stride}, DType::kF32);
    seed_ = seed;
    auto* values = values_.mutable_data<float>();
    parallel_chunks(count * stride, 1 << 20, 0, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        values[i] = static_cast<float>(unit(seed, static_cast<std::uint64_t>(i)) * 2 - 1);
      }
    });
  }
  const auto owner = std::make_shared<Tensor>(values_);
  std::vector<Tensor> views;
  for (std::int64_t i = 0; i < count; ++i) {
    views.push_back(
        Tensor::wrap(values_.mutable_data<float>() + i * stride, {rows, channels}, DType::kF32, owner));
  }
  return views;
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

BenchResult measure(const BenchCase& bench, cpu::PeakProbe& probe, FeaturePool& pool) {
  const auto start = Clock::now();
  const auto seconds_left = [&] { return bench.max_seconds - seconds_since(start); };
  const KernelSpec& spec = bench.spec;
  const ExecOptions& exec = bench.exec;
  const ConvWeight weight = random_weight(bench);
  const LayerSites sites = make_sites(bench);
  const std::vector<Tensor> features = pool.views(sites.input.size(), bench.c_in, bench.seed);

  BenchResult result;
  result.geometry = bench.sites->name;
  result.window = fmt::format("{} {}", conv_kind_name(spec.kind), spec.kernel.joined('x'));
  result.device = std::string(backend_name(exec.backend));
  result.threads = resolve_threads(exec.threads);
  result.c_in = bench.c_in;
  result.c_out = bench.c_out;
  const std::time_t now = std::time(nullptr);
  result.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));

  double flop = 0;
  double first_map_ms = 0;
  double first_run_ms = 0;
  ExecOptions watched = exec;
  watched.observer = [&](const OpRecord& record) {
    result.problem = record.problem;
    if (!bench.sites->key.empty()) result.problem += ":geometry=" + bench.sites->key;
    result.kernel = record.kernel;
    result.sites = record.sites_in;
    result.sites_out = record.sites_out;
    result.pairs = spec.is_pointwise() ? record.sites_out : record.pairs;
    flop = record.flop;
    first_map_ms = record.map_ms;
    first_run_ms = record.run_ms;
    result.rel_l2 = check_layer(*record.conv, {kCheckedRows, kEverything, bench.seed}).relative_l2();
  };
  // The first run builds the map, packs the weights and is checked; the second warms up.
  static_cast<void>(run(bench, sites, weight, features[0], watched));
  if (seconds_left() > 0) static_cast<void>(run(bench, sites, weight, features.back(), exec));

  // Three fifths of the time that is left are the convolution's; what it does not need stays unspent.
  const double share = seconds_left() / 5;
  std::size_t turn = 0;
  const auto next = [&]() -> const Tensor& { return features[turn++ % features.size()]; };
  result.conv = sample(
      probe, {.max_seconds = 3 * share}, first_run_ms, [] {},
      [&] { static_cast<void>(run(bench, sites, weight, next(), exec)); });

  const auto fresh_effort = [&](double seconds) {
    return Effort{.wanted = 5, .enough = 20, .max_seconds = std::min({seconds, share, 2.0})};
  };
  LayerSites fresh;
  const auto forget = [&] { fresh = {}; };
  if (!spec.is_pointwise()) {
    result.map = sample(probe, fresh_effort(seconds_left() / 2), first_map_ms, forget, [&] {
      fresh = make_sites(bench);
      static_cast<void>(build_kernel_map(fresh.fine, spec, exec));
    });
  }
  result.first_layer = sample(probe, fresh_effort(seconds_left()), first_map_ms + first_run_ms, forget, [&] {
    fresh = make_sites(bench);
    static_cast<void>(run(bench, fresh, weight, next(), exec));
  });
  result.gflops = result.conv.median_ms > 0 ? flop / result.conv.median_ms * 1e-6 : 0;
  result.peak_gflops = probe.peak_gflops();
  return result;
}

}  // namespace aerogel::cli
