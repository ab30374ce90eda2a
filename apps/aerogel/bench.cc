// `aerogel bench`: timed convolutions with the samples left out that a busy machine spoilt.
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "aerogel/error.h"

#include "bench_layers.h"
#include "bench_report.h"
#include "bench_sites.h"
#include "cli.h"
#include "conv/problem_string.h"
#include "output.h"
#include "seed_option.h"
#include "text.h"

namespace aerogel::cli {

namespace {

constexpr std::int64_t kMostCount = 1 << 20;  // channels, threads

struct BenchOptions {
  std::vector<std::string> geometries;
  std::string layers;
  std::string problem;
  std::string c_in = "64";
  std::string c_out;
  std::string threads = "0";
  std::string kernel = "3x3x3";
  std::string kind = "subm";
  std::string stride;
  std::string padding;
  std::string dilation;
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
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < least || value > kMostCount) {
      throw InvalidArgument(fmt::format("{} {}: expected whole numbers from {} to {}, commas between", option,
                                        text, least, kMostCount));
    }
    values.push_back(value);
  }
  return values;
}

/// "3" on every axis, or "3x1x1"; empty stays empty.
Dims axes(const std::string& option, const std::string& text) {
  if (text.empty()) return {};
  const Dims dims = parse_dims(text, option);
  return dims.size() == 1 ? Dims::filled(3, dims[0]) : dims;
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
  BenchCase bench;
  bench.spec = KernelSpec::make(parse_conv_kind(options.kind), axes("--kernel", options.kernel),
                                axes("--stride", options.stride), axes("--padding", options.padding),
                                axes("--dilation", options.dilation));
  bench.exec = exec_of(options);
  bench.seed = options.seed;
  bench.max_seconds = options.max_seconds;
  const auto threads_list = counts("--threads", options.threads, 0);
  const auto c_ins = counts("--cin", options.c_in, 1);
  const auto c_outs = options.c_out.empty() ? c_ins : counts("--cout", options.c_out, 1);
  for (const std::string& geometry : options.geometries) {
    const BenchSites sites = bench_sites(geometry, options.voxel, options.shuffle, options.seed);
    if (sites.spatial_shape.size() != bench.spec.ndim()) {
      throw InvalidArgument(fmt::format("--kernel {}: {} axes, but {} has {}", options.kernel,
                                        bench.spec.ndim(), geometry, sites.spatial_shape.size()));
    }
    bench.sites = &sites;
    for (const std::int64_t threads : threads_list) {
      bench.exec.threads = static_cast<int>(threads);
      for (const std::int64_t c_in : c_ins) {
        for (const std::int64_t c_out : c_outs) {
          if (options.c_out.empty() && c_out != c_in) continue;
          bench.c_in = c_in;
          bench.c_out = c_out;
          report.add(bench);
        }
      }
    }
  }
}

/// Fills the options that a problem string stands for.
BenchOptions from_problem(BenchOptions options) {
  const ProblemString problem(options.problem);
  if (problem.op() != "sparse_conv" && problem.op() != "linear")
    throw InvalidArgument(fmt::format("--problem {}: only sparse_conv can be timed", options.problem));
  if (!problem.has("geometry")) {
    throw InvalidArgument(fmt::format(
        "--problem {}: it needs the sites, as geometry=lidar_0, shell_128, uniform_128_0.1 or file_PATH",
        options.problem));
  }
  options.geometries = {spec_of_key(problem.text("geometry"), options.shuffle)};
  const auto take = [&](const char* key, std::string& to) {
    if (problem.has(key)) to = problem.text(key);
  };
  take("kind", options.kind);
  take("kernel", options.kernel);
  take("stride", options.stride);
  take("padding", options.padding);
  take("dilation", options.dilation);
  take("cin", options.c_in);
  take("cout", options.c_out);
  take("dtype", options.dtype);
  return options;
}

void bench(const BenchOptions& given) {
  const int sources =
      (given.geometries.empty() ? 0 : 1) + (given.layers.empty() ? 0 : 1) + (given.problem.empty() ? 0 : 1);
  if (sources != 1) throw InvalidArgument("bench: give either --geometry or --layers or --problem");
  const BenchOptions options = given.problem.empty() ? given : from_problem(given);
  if (!(options.max_seconds > 0)) throw InvalidArgument("--max-seconds must be above 0");
  keep_freed_memory();
  BenchReport report(options.as_json);
  if (options.layers.empty()) {
    bench_geometry(options, report);
    return;
  }
  require_input(options.layers);
  LayerBench layers;
  layers.file = options.layers;
  layers.exec = exec_of(options);
  layers.max_seconds = options.max_seconds;
  layers.max_sites = options.max_sites;
  layers.seed = options.seed;
  for (const std::int64_t threads : counts("--threads", options.threads, 0)) {
    layers.exec.threads = static_cast<int>(threads);
    bench_layers(layers, report);
  }
}

}  // namespace

CLI::App* add_bench(CLI::App& app, int&) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench",
      "Time convolutions. Measured is the public verb with its map cached and its weights packed, the "
      "output's allocation included (memory of earlier outputs is used again); map: the coordinate set with "
      "sorting and the map, on fresh sets (for inverse also the regular map that it turns round); first: "
      "both "
      "together on fresh sets. A sample counts only if a 0.1 ms FMA loop right before and right after it ran "
      "at 95 % of the peak or more on every thread and no involuntary context switch hit it; with none kept "
      "the best sample stands. At least 20 kept ones are wanted. Inputs rotate through buffers that together "
      "exceed the last-level cache, within 1 GiB. rel_l2 compares 256 output rows with the reference in "
      "double");
  command->add_option("--geometry", options->geometries,
                      "lidar:SEED, shell:R, uniform:R:FILL or file:PATH: points, or sites as synth writes "
                      "them (.npy, .npz); several may follow");
  command->add_option("--layers", options->layers,
                      "A .csv of layers (model, layer, cin, cout, kernel, resolution, typical_voxels, …)");
  command->add_option("--problem", options->problem,
                      "A problem string as --json prints it, with its geometry");
  command->add_option("--cin", options->c_in, "Input channels, or a list of them: 16,32,64")
      ->capture_default_str();
  command->add_option("--cout", options->c_out, "Output channels or a list; default: as --cin");
  command->add_option("--kernel", options->kernel, "3 or 3x1x1")->capture_default_str();
  command->add_option("--kind", options->kind, "subm, regular, transposed or inverse")->capture_default_str();
  command->add_option("--stride", options->stride, "2 or 2x1x1");
  command->add_option("--padding", options->padding, "1 or 0x1x1");
  command->add_option("--dilation", options->dilation, "2 or 2x1x1");
  command->add_option("--dtype", options->dtype, "f32")->capture_default_str();
  command->add_option("--threads", options->threads, "0 = all cores; a list: 1,2")->capture_default_str();
  command->add_option("--device", options->device, "cpu or reference")->capture_default_str();
  command->add_option("--kernel-name", options->kernel_name, "Force this row (see aerogel kernels)");
  command->add_option("--voxel", options->voxel, "Voxel size for file:PATH, metres");
  add_seed_option(*command, options->seed, "Of features, weights and --shuffle");
  command
      ->add_option("--max-seconds", options->max_seconds,
                   "Of a problem in all: its maps, its first layers and its samples")
      ->capture_default_str();
  command->add_option("--max-sites", options->max_sites, "--layers: skip larger rows, and say so")
      ->capture_default_str();
  command->add_flag("--shuffle", options->shuffle, "Rows in random order");
  command->add_flag("--json", options->as_json, "One JSON object a line");
  command->callback([options] { bench(*options); });
  return command;
}

}  // namespace aerogel::cli
