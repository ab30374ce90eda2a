// `aerogel bench`: timed convolutions with the samples left out that a busy machine spoilt.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/ops/voxelize.h"

#include "bench_layers.h"
#include "bench_measure.h"
#include "cli.h"
#include "cloud.h"
#include "conv/problem_string.h"
#include "core/parallel.h"
#include "geometry.h"
#include "grid_choice.h"
#include "text.h"

namespace aerogel::cli {

namespace {

struct BenchOptions {
  std::string geometry;
  std::string layers;
  std::string c_in = "64";
  std::string c_out;
  std::string threads = "0";
  std::string kernel = "3x3x3";
  std::string kind = "subm";
  std::string stride;
  std::string padding;
  std::string dtype = "f32";
  std::string device = "cpu";
  std::string kernel_name;
  std::string voxel;
  std::uint64_t seed = 0;
  double max_seconds = 10;
  std::int64_t max_sites = 400000;
  bool shuffle = false;
  bool as_json = false;
};

std::vector<std::int64_t> counts(const std::string& option, const std::string& text, std::int64_t least) {
  std::vector<std::int64_t> values;
  for (const std::string& part : split_commas(text)) {
    const double value = parse_numbers(option, part, 1)[0];
    if (value < static_cast<double>(least) ||
        value != static_cast<double>(static_cast<std::int64_t>(value))) {
      throw InvalidArgument(fmt::format("{} {}: whole numbers from {} on", option, text, least));
    }
    values.push_back(static_cast<std::int64_t>(value));
  }
  return values;
}

/// "3" on every axis, or "3x1x1"; empty stays empty.
Dims axes(const std::string& option, const std::string& text) {
  if (text.empty()) return {};
  const Dims dims = parse_dims(text, option);
  return dims.size() == 1 ? Dims::filled(3, dims[0]) : dims;
}

BenchSites sites_of(const BenchOptions& options) {
  BenchSites sites;
  sites.name = options.geometry;
  if (options.geometry.rfind("file:", 0) == 0) {
    const Cloud cloud = read_cloud_all_columns(options.geometry.substr(5), {});
    const GridChoice choice = choose_grid(cloud, nullptr, {options.voxel, ""});
    const SparseTensor voxels = voxelize_mean(cloud.points, choice.grid).voxels;
    sites.indices = voxels.coordinates.indices();
    sites.spatial_shape = voxels.coordinates.spatial_shape();
  } else {
    const Geometry geometry = make_geometry(options.geometry);
    sites.indices = Tensor::from<std::int32_t>({geometry.sites(), 4}, geometry.coords);
    sites.spatial_shape = Dims(geometry.spatial_shape);
  }
  if (options.shuffle) {  // Fisher–Yates with counter-based randomness
    Tensor shuffled = sites.indices.clone();
    auto* rows = shuffled.mutable_data<std::int32_t>();
    for (std::int64_t i = shuffled.size(0) - 1; i > 0; --i) {
      const auto j = static_cast<std::int64_t>(unit(options.seed, static_cast<std::uint64_t>(i)) *
                                               static_cast<double>(i + 1));
      std::swap_ranges(rows + i * 4, rows + i * 4 + 4, rows + j * 4);
    }
    sites.indices = shuffled;
    sites.name += ":shuffled";
  }
  return sites;
}

ExecOptions exec_of(const BenchOptions& options) {
  if (parse_dtype(options.dtype) != DType::kF32) {
    throw Unsupported(
        fmt::format("[bench] convolutions compute in f32 in this version, not {}", options.dtype));
  }
  ExecOptions exec;
  exec.backend = parse_backend(options.device);
  exec.kernel = options.kernel_name;
  return exec;
}

void bench_geometry(const BenchOptions& options, BenchReport& report) {
  const BenchSites sites = sites_of(options);
  BenchCase bench;
  bench.sites = &sites;
  bench.spec = KernelSpec::make(parse_conv_kind(options.kind), axes("--kernel", options.kernel),
                                axes("--stride", options.stride), axes("--padding", options.padding));
  bench.exec = exec_of(options);
  bench.seed = options.seed;
  bench.max_seconds = options.max_seconds;
  for (const std::int64_t threads : counts("--threads", options.threads, 0)) {
    bench.exec.threads = static_cast<int>(threads);
    const double map_ms = time_map_ms(sites, bench.spec, bench.exec);
    for (const std::int64_t c_in : counts("--cin", options.c_in, 1)) {
      const auto c_outs = options.c_out.empty() ? std::vector{c_in} : counts("--cout", options.c_out, 1);
      for (const std::int64_t c_out : c_outs) {
        bench.c_in = c_in;
        bench.c_out = c_out;
        report.add(bench, map_ms);
      }
    }
  }
}

void bench(const BenchOptions& options) {
  if (options.geometry.empty() == options.layers.empty()) {
    throw InvalidArgument("bench: give either --geometry or --layers");
  }
  if (!(options.max_seconds > 0)) throw InvalidArgument("--max-seconds must be above 0");
  BenchReport report(options.as_json);
  if (!options.layers.empty()) {
    LayerBench layers;
    layers.file = options.layers;
    layers.exec = exec_of(options);
    layers.exec.threads = static_cast<int>(counts("--threads", options.threads, 0)[0]);
    layers.max_seconds = options.max_seconds;
    layers.max_sites = options.max_sites;
    layers.seed = options.seed;
    bench_layers(layers, report);
  } else {
    bench_geometry(options, report);
  }
  report.finish();
}

}  // namespace

void BenchReport::add(const BenchCase& bench, double map_ms) {
  const int threads = resolve_threads(bench.exec.threads);
  if (!probe_ || probe_threads_ != threads) {
    probe_ = std::make_unique<cpu::PeakProbe>(threads);
    probe_threads_ = threads;
  }
  results_.push_back(measure(bench, *probe_, map_ms));
  if (as_json_) {
    fmt::print("{}\n", results_.back().json().dump());
    std::fflush(stdout);
  }
}

void BenchReport::say(const std::string& line) const {
  fmt::print(as_json_ ? stderr : stdout, "{}\n", line);
  std::fflush(as_json_ ? stderr : stdout);
}

void BenchReport::finish() const {
  if (as_json_) return;
  TextTable table;
  table.add_column("geometry", TextTable::Align::kLeft);
  for (const char* title : {"sites", "channels", "pairs", "threads"}) table.add_column(title);
  table.add_column("kernel", TextTable::Align::kLeft);
  for (const char* title :
       {"map ms", "median ms", "p10", "p90", "GFLOP/s", "of peak", "rel L2", "kept/tried"}) {
    table.add_column(title);
  }
  for (const BenchResult& r : results_) {
    table.add_row({r.geometry, count_text(r.sites), fmt::format("{}>{}", r.c_in, r.c_out),
                   count_text(r.pairs), fmt::format("{}", r.threads), r.kernel,
                   fmt::format("{:.2f}", r.map_ms), fmt::format("{:.3f}", r.median_ms),
                   fmt::format("{:.3f}", r.p10_ms), fmt::format("{:.3f}", r.p90_ms),
                   fmt::format("{:.1f}", r.gflops), fmt::format("{:.1f} %", 100 * r.share_of_peak()),
                   fmt::format("{:.1e}", r.rel_l2), fmt::format("{}/{}", r.samples_kept, r.samples_tried)});
  }
  const CpuInfo info = cpu_info();
  fmt::print(
      "{}, {}; f32 FMA peak as measured in this run; medians of the samples that had the machine to "
      "themselves\n\n{}",
      info.model, info.instruction_set, table.str());
}

CLI::App* add_bench(CLI::App& app, int&) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench",
      "Time convolutions: the public verb with its map cached, output allocation included. A sample counts "
      "only if a 0.1 ms FMA loop right before and after it ran at 95 % of peak or more on every thread and "
      "no "
      "involuntary context switch hit it");
  command->add_option("--geometry", options->geometry,
                      "lidar:SEED, shell:R, uniform:R:FILL or file:PATH (points)");
  command->add_option("--layers", options->layers,
                      "A .csv of layers (model, layer, cin, cout, kernel, resolution, …)");
  command->add_option("--cin", options->c_in, "Input channels, or a list of them: 16,32,64")
      ->capture_default_str();
  command->add_option("--cout", options->c_out, "Output channels or a list; default: as --cin");
  command->add_option("--kernel", options->kernel, "3 or 3x1x1")->capture_default_str();
  command->add_option("--kind", options->kind, "subm, regular, transposed or inverse")->capture_default_str();
  command->add_option("--stride", options->stride, "2 or 2x1x1");
  command->add_option("--padding", options->padding, "1 or 0x1x1");
  command->add_option("--dtype", options->dtype, "f32")->capture_default_str();
  command->add_option("--threads", options->threads, "0 = all cores; a list: 1,2")->capture_default_str();
  command->add_option("--device", options->device, "cpu or reference")->capture_default_str();
  command->add_option("--kernel-name", options->kernel_name, "Force this row (see aerogel kernels)");
  command->add_option("--voxel", options->voxel, "Voxel size for file:PATH, metres");
  command->add_option("--seed", options->seed, "Of features, weights and --shuffle")->capture_default_str();
  command->add_option("--max-seconds", options->max_seconds, "Per problem")->capture_default_str();
  command->add_option("--max-sites", options->max_sites, "--layers: skip larger rows, and say so")
      ->capture_default_str();
  command->add_flag("--shuffle", options->shuffle, "Rows in random order");
  command->add_flag("--json", options->as_json, "One JSON object a line");
  command->callback([options] { bench(*options); });
  return command;
}

}  // namespace aerogel::cli
