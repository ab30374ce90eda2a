// `aerogel run`: points → voxels → network → features, pictures and a report.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/io.h"
#include "aerogel/nn.h"
#include "aerogel/ops/sites.h"
#include "aerogel/plan.h"

#include "backend/cpu/peak.h"
#include "cli.h"
#include "cloud.h"
#include "core/parallel.h"
#include "grid_choice.h"
#include "layer_log.h"
#include "load_weights.h"
#include "output.h"
#include "point_options.h"
#include "run_outputs.h"
#include "seed_option.h"
#include "text.h"
#include "view_options.h"

namespace aerogel::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr CheckSample kSample = {4096, std::int64_t{1} << 26, 0};
constexpr std::int64_t kMaxSites = std::int64_t{1} << 22;
constexpr const char* kUntrained = "untrained weights";

struct RunOptions {
  std::string network;
  std::string variant;
  std::string weights;
  std::string layout;  // empty: canonical
  std::vector<std::string> inputs;
  PointOptions points;
  std::string device = "cpu";
  int threads = 0;
  std::string check;  // "", "sampled" or "full"
  std::uint64_t seed = 0;
  std::int64_t max_sites = kMaxSites;
  bool own_resolution = true;  // --resolution was not given
  ViewOptions views;
  std::string dump;
  bool as_json = false;
  std::string out;
};

/// InvalidArgument for an unknown name, Unsupported with the reason for a backend that cannot compute here.
void require_backend(const std::string& name) {
  const Backend backend = parse_backend(name);
  for (const BackendInfo& info : list_backends()) {
    if (info.backend == backend && !info.available)
      throw Unsupported(fmt::format("--device {}: {}", name, info.reason));
  }
}

/// A network with its weights, and what it is called.
struct Network {
  nn::NetworkInfo info;
  std::unique_ptr<nn::Module> module;
  std::string title;  // "centerpoint (waymo)"
  std::string note;   // kUntrained or empty
  std::int64_t weight_bytes = 0;
};

nn::WeightLayout layout_of(const RunOptions& options) {
  if (options.layout.empty()) return nn::WeightLayout::kCanonical;
  const nn::WeightLayout layout = nn::parse_weight_layout(options.layout);
  if (options.weights.empty())
    throw InvalidArgument(
        fmt::format("--layout {} says how --weights are stored: none are given", options.layout));
  return layout;
}

Network load_network(const RunOptions& options) {
  const nn::WeightLayout layout = layout_of(options);
  Network network;
  network.info = nn::network_info(options.network, options.variant);
  network.module = nn::make_network(options.network, options.variant);
  network.title = network.info.name + (network.info.variant.empty() ? "" : " (" + network.info.variant + ")");
  if (options.weights.empty()) {
    nn::init_weights(*network.module, options.seed);
    network.note = kUntrained;
  } else {
    load_weights(*network.module, options.weights, layout);
  }
  for (const auto& [name, tensor] : nn::state_dict(*network.module)) network.weight_bytes += tensor.nbytes();
  return network;
}

/// Prints for people; silent when the answer is JSON.
class Talk {
 public:
  explicit Talk(bool silent) : silent_(silent) {}
  void line(const std::string& text) const {
    if (silent_) return;
    fmt::print("{}\n", text);
    std::fflush(stdout);
  }

 private:
  bool silent_;
};

MeanVoxels voxelize_cloud(const Cloud& cloud, const VoxelGrid& grid, std::int64_t extra_z,
                          const ExecOptions& exec) {
  MeanVoxels voxels = voxelize_mean(cloud.points, grid, exec);
  if (extra_z == 0) return voxels;
  const Coordinates& sites = voxels.voxels.coordinates;
  Dims shape = sites.spatial_shape();
  shape[0] += extra_z;
  voxels.voxels.coordinates =
      Coordinates::adopt_sorted(sites.indices(), shape, sites.batch_size(), sites.tensor_stride());
  return voxels;
}

struct Pass {
  SparseTensor out;
  LayerLog log;
  std::int64_t peak_bytes = 0;
  std::int64_t building_bytes = 0;  // the most that map builders held
  double wall_ms = 0;
  std::vector<Tensor> decisions;  // of a network that makes sites
};

/// One forward pass with a meter. The input counts too: it is alive throughout. `decisions` are those of a
/// pass for a dry run, which makes the same sites.
Pass forward(const Network& network, const SparseTensor& in, ExecOptions exec, LayerLogOptions log_options,
             std::int64_t max_sites, std::vector<Tensor> decisions = {}) {
  Pass pass;
  pass.log = LayerLog(std::move(log_options));
  nn::Context context;
  context.max_sites = max_sites;
  context.decisions = std::move(decisions);
  exec.meter = std::make_shared<MemoryMeter>();
  exec.meter->add(in.features.nbytes());
  exec.observer = [&pass](const OpRecord& record) { pass.log.observe(record); };
  context.exec = exec;
  const auto start = std::chrono::steady_clock::now();
  try {
    pass.out = network.module->forward(in, context);
  } catch (...) {
    pass.log.end_progress();
    throw;
  }
  pass.wall_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  pass.log.end_progress();
  pass.decisions = std::move(context.decisions);
  pass.peak_bytes = exec.meter->peak_bytes();
  pass.building_bytes = exec.meter->peak_bytes(MemoryUse::kMapBuilding);
  return pass;
}

/// The cells of a network's sites. Tensor strides tell coarser ones; finer ones show in the extent.
VoxelGrid output_grid(VoxelGrid grid, const Coordinates& in, const Coordinates& out) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t fine =
        out.spatial_shape()[2 - axis] / std::max<std::int64_t>(in.spatial_shape()[2 - axis], 1);
    if (fine > 1) grid.size[axis] /= static_cast<float>(fine);
  }
  return grid;
}

/// Sites of a bird's-eye view (batch, y, x) as (batch, 0, y, x); others as they are. For files and pictures.
SparseTensor with_heights(const SparseTensor& out) {
  if (out.coordinates.ndim() == 3) return out;
  const SparseTensor flat = sort_rows(out);
  const Coordinates& sites = flat.coordinates;
  const Dims& shape = sites.spatial_shape();
  const Dims& stride = sites.tensor_stride();
  Tensor indices = Tensor::empty({sites.size(), 4}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    const std::int32_t* row = sites.row(i);
    for (const std::int32_t value : {row[0], std::int32_t{0}, row[1], row[2]}) *to++ = value;
  }
  return {flat.features, Coordinates::adopt_sorted(indices, {1, shape[0], shape[1]}, sites.batch_size(),
                                                   {1, stride[0], stride[1]})};
}

std::int64_t process_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

json cloud_json(const Cloud& cloud) {
  return {
      {"input", cloud.source},    {"rows_read", cloud.rows_read}, {"rows_not_finite", cloud.rows_not_finite},
      {"points", cloud.size()},   {"features", cloud.features},   {"zero_filled", cloud.missing},
      {"renamed", cloud.renamed}, {"surface", cloud.surface},     {"origin", cloud.origin},
      {"bounds_lo", cloud.lo},    {"bounds_hi", cloud.hi}};
}

/// What a report and a dump both say about a run.
json run_json(const RunOptions& options, const Network& network) {
  return {
      {"aerogel", std::string(version())},
      {"network", network.info.name},
      {"variant", network.info.variant},
      {"weights", options.weights.empty() ? std::string(kUntrained) : options.weights},
      {"layout", options.weights.empty() ? json(nullptr) : json(nn::weight_layout_name(layout_of(options)))},
      {"seed", options.weights.empty() ? json(options.seed) : json(nullptr)},
      {"device", options.device}};
}

void write_json(const fs::path& path, const json& value) {
  io::write_file(path, value.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

/// Where the results of one input go.
struct RunFolders {
  OutputFolder out;
  std::optional<OutputFolder> dump;

  /// `below`: the folder of one input among several; empty: none.
  RunFolders(const RunOptions& options, const std::string& below) : out(join(options.out, below)) {
    if (!options.dump.empty()) dump.emplace(join(options.dump, below));
  }
  static fs::path join(const fs::path& folder, const std::string& below) {
    return below.empty() ? folder : folder / below;
  }
  void make() {
    out.make();
    if (dump) dump->make();
  }
};

/// Runs one input into `folders`; false if a layer failed its check.
bool run_one(const RunOptions& options, const Network& network, const std::string& source,
             RunFolders& folders, double peak_gflops) {
  const Talk talk(options.as_json);
  CloudOptions reading = options.points.cloud();
  if (options.own_resolution && network.info.resolution > 0) reading.resolution = network.info.resolution;
  const std::vector<std::string>& expected = network.info.features;
  const bool takes_places = expected.front() == "x";  // else they say where a point is and are no features
  std::vector<std::string> columns = expected;
  if (!takes_places) columns.insert(columns.begin(), {"x", "y", "z"});
  const Cloud cloud = read_cloud(source, columns, reading);
  for (const std::string& line : describe(cloud)) talk.line(line);

  ExecOptions exec;
  exec.backend = parse_backend(options.device);
  exec.threads = options.threads;
  const GridChoice choice = choose_grid(cloud, &network.info, options.points.grid);
  talk.line(choice.rule);
  MeanVoxels voxels = voxelize_cloud(cloud, choice.grid, network.info.extra_z, exec);
  if (!takes_places) voxels.voxels.features = other_columns(voxels.voxels.features);
  const std::int64_t sites = voxels.voxels.sites();
  const auto* ids = voxels.point_voxel.data<std::int64_t>();
  const std::int64_t outside = std::count(ids, ids + cloud.size(), -1);
  talk.line(fmt::format("{} sites; {} of {} points outside the box", count_text(sites), count_text(outside),
                        count_text(cloud.size())));

  Pass planned;
  std::int64_t map_bytes = 0;
  ExecOptions dry = exec;
  dry.dry_run = true;
  const auto tell_plan = [&](const std::vector<Tensor>& decisions) {
    planned = forward(network, voxels.voxels, dry, {}, options.max_sites, decisions);
    for (const LayerRow& row : planned.log.rows()) map_bytes += row.map_bytes;
    talk.line(fmt::format("planned peak memory{}: {} features and workspaces + {} kernel maps + {} weights",
                          network.info.makes_sites ? " on these sites" : "", bytes_text(planned.peak_bytes),
                          bytes_text(map_bytes), bytes_text(network.weight_bytes)));
    if (planned.building_bytes > 0) {
      talk.line(
          fmt::format("building a map took up to {}, itself included", bytes_text(planned.building_bytes)));
    }
  };
  if (network.info.makes_sites) {
    talk.line(
        fmt::format("the network decides from its features which sites there are: at most {} at a level "
                    "(--max-sites), and "
                    "peak memory is planned once they are known",
                    count_text(options.max_sites)));
  } else {
    tell_plan({});
  }

  folders.make();  // whatever can be refused has been
  const fs::path& folder = folders.out.path();
  if (folders.dump) {
    json manifest = run_json(options, network);
    manifest["source"] = cloud_json(cloud);
    manifest["grid"] = choice.rule;
    manifest["files"] = "NNN_LAYER.npy: the output of each layer, numbered in the order of the run";
    write_json(folders.dump->path() / "manifest.json", manifest);
  }

  LayerLogOptions log_options;
  if (!options.check.empty()) {
    log_options.check = options.check == "full" ? CheckSample{kEverything, kEverything, 0} : kSample;
    log_options.check->seed = options.seed;
  }
  log_options.threads = options.threads;
  if (folders.dump) log_options.dump = folders.dump->path();
  log_options.progress = !options.as_json && isatty(STDERR_FILENO) != 0;
  Pass pass = forward(network, voxels.voxels, exec, log_options, options.max_sites);
  if (!network.info.makes_sites) pass.log.take_maps(planned.log);
  throw_if_interrupted();
  talk.line("");
  talk.line(pass.log.table(peak_gflops));
  if (network.info.makes_sites) tell_plan(pass.decisions);
  talk.line(fmt::format("met peak memory: {} features and workspaces; process peak {}",
                        bytes_text(pass.peak_bytes), bytes_text(process_peak_bytes())));
  const bool passed = pass.log.passed();
  if (!options.check.empty()) {
    talk.line(
        fmt::format("check: {}, {} (tolerance c · 2^-24 · sum of |terms|, c = 4 · sqrt(terms) + 8)",
                    options.check == "full"
                        ? "all rows"
                        : fmt::format("up to {} rows a layer, fewer where they cost over 2^26 products, "
                                      "drawn with seed {}",
                                      kSample.rows, options.seed),
                    passed ? "every layer agrees with the reference in double" : "FAILED"));
  }

  RunFiles about;
  about.title = network.title + " on " + cloud.name;
  about.note = network.note;
  about.grid = choice.grid;
  about.cloud = &cloud;
  json report = run_json(options, network);
  report["threads"] = resolve_threads(options.threads);
  report["source"] = cloud_json(cloud);
  report["grid"] = choice.rule;
  report["voxel"] = choice.grid.size;
  report["range_lo"] = choice.grid.lo;
  report["range_hi"] = choice.grid.hi;
  report["sites"] = sites;
  report["points_outside"] = outside;
  report["output_sites"] = pass.out.sites();
  report["output_channels"] = pass.out.channels();
  const Dims& shape = pass.out.coordinates.spatial_shape();
  report["output_shape"] = std::vector<std::int64_t>(shape.begin(), shape.end());
  about.meta_json = report.dump(-1, ' ', false, json::error_handler_t::replace);
  about.viewpoint = options.views.viewpoint(source);
  const bool solid = network.info.makes_sites || !cloud.surface.empty();
  std::vector<std::string> pictures;
  const auto paths = [&](const std::string& of) {
    PicturePaths found;
    if (options.views.bev(true)) found.bev = folder / pictures.emplace_back("bev_" + of);
    if (options.views.perspective(solid))
      found.perspective = folder / pictures.emplace_back("perspective_" + of);
    return found;
  };
  write_input_pictures(paths("input.png"), voxels, about);
  const SparseTensor placed = with_heights(pass.out);
  about.grid = output_grid(choice.grid, voxels.voxels.coordinates, placed.coordinates);
  report["variance_explained"] = write_feature_files(folder, paths("features.png"), placed, about);
  report["planned_peak_bytes"] = planned.peak_bytes;
  report["met_peak_bytes"] = pass.peak_bytes;
  report["map_bytes"] = map_bytes;
  report["map_building_peak_bytes"] = planned.building_bytes;
  report["weight_bytes"] = network.weight_bytes;
  report["process_peak_bytes"] = process_peak_bytes();
  report["peak_gflops"] = peak_gflops;
  report["peak_kind"] = "f32_fma";
  report["wall_ms"] = pass.wall_ms;
  if (!options.check.empty()) {
    report["check"] = {
        {"passed", passed}, {"rows", options.check == "full" ? "all" : "sampled"}, {"seed", options.seed}};
  }
  report["layers"] = pass.log.json(peak_gflops);
  write_json(folder / "report.json", report);
  if (options.as_json) fmt::print("{}\n", report.dump(-1, ' ', false, json::error_handler_t::replace));
  talk.line(fmt::format("{} sites of {} channels{} in {}: features.npz, features.ply, {}, report.json",
                        count_text(pass.out.sites()), pass.out.channels(),
                        network.note.empty() ? "" : fmt::format(" ({})", network.note), folder.string(),
                        fmt::join(pictures, ", ")));
  return passed;
}

/// Folder names of several inputs: their short names, numbered where two are alike.
std::vector<std::string> folder_names(const std::vector<std::string>& sources) {
  std::vector<std::string> names;
  for (const std::string& source : sources) {
    std::string name = source.rfind("synth:", 0) == 0 ? source.substr(6) : fs::path(source).stem().string();
    std::replace(name.begin(), name.end(), ':', '_');
    const std::string base = name;
    for (int i = 2; std::find(names.begin(), names.end(), name) != names.end(); ++i)
      name = fmt::format("{}_{}", base, i);
    names.push_back(name);
  }
  return names;
}

void run(const RunOptions& options, int& exit_code) {
  require_backend(options.device);
  if (options.threads < 0)
    throw InvalidArgument(fmt::format("--threads {}: must be 0 (all cores) or more", options.threads));
  const std::vector<std::string> sources = expand_inputs(options.inputs);
  const RunFolders top(options, "");  // checked before the work; each input makes its own
  const Network network = load_network(options);
  const Talk talk(options.as_json);
  talk.line(network.note.empty() ? fmt::format("{}, weights {}{}", network.title, options.weights,
                                               options.layout.empty() ? "" : ", layout " + options.layout)
                                 : fmt::format("{}, {} (seed {}; --weights FILE loads trained ones)",
                                               network.title, kUntrained, options.seed));
  const double peak = cpu::measure_fma_peak_gflops(resolve_threads(options.threads));
  const std::vector<std::string> names = folder_names(sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool several = sources.size() > 1;
    if (several) talk.line("");
    RunFolders folders(options, several ? names[i] : "");
    if (!run_one(options, network, sources[i], folders, peak)) exit_code = kCheckFailed;
    throw_if_interrupted();
  }
}

std::string known_networks() {
  std::vector<std::string> names;
  for (const nn::NetworkInfo& info : nn::list_networks()) names.push_back(network_arguments(info));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

CLI::App* add_run(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Run a network on points: features, pictures, a report of every layer");
  command
      ->add_option("inputs", options->inputs,
                   std::string(kInputHelp) + "; or folders of them (without the folders in those)")
      ->required();
  command->add_option("--network,-n", options->network, "One of: " + known_networks())->required();
  command->add_option("--variant", options->variant, "Variant of the network");
  command->add_option(
      "--weights,-w", options->weights,
      "Trained weights (.safetensors, .npz, .pth, .pt, .ckpt); without them the network is initialised from "
      "--seed and every output says so");
  command->add_option("--layout", options->layout,
                      "How --weights stores convolutions, never guessed: " + weight_layouts_help());
  command
      ->add_option("--out,-o", options->out,
                   "Folder for features.npz, features.ply, report.json and pictures of the input and the "
                   "features; several inputs get a folder each in it")
      ->required();
  add_point_options(*command, options->points, kGridHelp);
  command->add_option("--device", options->device, "cpu or reference")->capture_default_str();
  command->add_option("--threads", options->threads, "0 = all cores; the results are the same for any number")
      ->capture_default_str();
  command
      ->add_flag("--check{sampled}", options->check,
                 "Compare each convolution and linear layer with the reference in double, on the input that "
                 "it had: all rows up to 4,096 and 2^26 products, else a drawn sample; --check=full: all "
                 "rows. Exit code 1 on a "
                 "failure")
      ->check(CLI::IsMember({"sampled", "full"}));
  add_seed_option(*command, options->seed, "Of untrained weights and of the rows that --check draws");
  command->add_option("--dump", options->dump,
                      "Folder for every layer's output as .npy, for aerogel compare, with a manifest.json");
  command->add_flag("--json", options->as_json,
                    "Print the report as one JSON object a line, and nothing else");
  command
      ->add_option(
          "--max-sites", options->max_sites,
          "Most sites that a network which makes sites (trellis2-shape-decoder, lato2-decoder) may make "
          "at a level; more are refused before they are made")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{0x7FFFFFFF}));
  add_view_options(*command, options->views,
                   "bev, and for meshes and networks that make sites perspective too");
  command->callback([options, command, &exit_code] {
    options->own_resolution = command->count("--resolution") == 0;
    run(*options, exit_code);
  });
  return command;
}

}  // namespace aerogel::cli
