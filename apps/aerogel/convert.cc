// `aerogel convert`: a file in another format. The endings tell what kind of file it is.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "cli.h"
#include "convert_weights.h"
#include "io/parsers.h"
#include "load_weights.h"
#include "output.h"
#include "surface.h"
#include "text.h"

namespace aerogel::cli {

namespace {

using nlohmann::json;

struct ConvertOptions {
  std::string input;
  std::string output;
  std::string columns;
  std::string keep;
  bool ascii = false;
  bool as_json = false;
  WeightsConversion weights;
};

bool has_ending(const std::string& path, const std::vector<std::string>& endings) {
  const std::string ending = io::lower_case(std::filesystem::path(path).extension().string());
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

/// Points of any format; of a mesh its vertices. `triangles` counts what is left behind.
io::PointTable read_any_points(const ConvertOptions& options, std::int64_t& triangles) {
  if (!has_ending(options.input, io::point_endings()) && has_ending(options.input, io::mesh_endings())) {
    const io::Mesh mesh = io::read_mesh(options.input);
    triangles = mesh.faces.size(0);
    return vertex_table(mesh);
  }
  io::PointReadOptions read;
  if (!options.columns.empty()) read.columns = split_commas(options.columns);
  return io::read_points(options.input, read);
}

json notes_json(const std::vector<io::PointWriteReport::Note>& notes) {
  json out = json::array();
  for (const auto& note : notes) out.push_back({{"column", note.column}, {"why", note.why}});
  return out;
}

/// Columns with the same reason share a line.
void print_notes(const char* verb, const std::vector<io::PointWriteReport::Note>& notes) {
  for (std::size_t i = 0; i < notes.size();) {
    std::vector<std::string> columns;
    const std::string& why = notes[i].why;
    for (; i < notes.size() && notes[i].why == why; ++i) columns.push_back(notes[i].column);
    fmt::print("{} {}: {}\n", verb, fmt::join(columns, ", "), why);
  }
}

void convert_points(const ConvertOptions& options) {
  std::int64_t triangles = 0;
  const io::PointTable table = read_any_points(options, triangles);
  io::PointWriteOptions write;
  write.ascii = options.ascii;
  if (!options.keep.empty()) write.columns = split_commas(options.keep);
  throw_if_interrupted();
  const io::PointWriteReport report = io::write_points(options.output, table, write);
  if (options.as_json) {
    const json about = {{"aerogel", std::string(version())},
                        {"input", options.input},
                        {"output", options.output},
                        {"rows_read", table.rows()},
                        {"rows", report.rows},
                        {"rows_dropped", report.rows_dropped},
                        {"triangles_dropped", triangles},
                        {"columns", report.written},
                        {"dropped", notes_json(report.dropped)},
                        {"rounded", notes_json(report.rounded)},
                        {"zero_filled", report.zero_filled}};
    fmt::print("{}\n", about.dump(-1, ' ', false, json::error_handler_t::replace));
    return;
  }
  print_notes("dropped", report.dropped);
  print_notes("rounded", report.rounded);
  if (!report.zero_filled.empty()) {
    fmt::print("the input has no {}: filled with zeros\n", fmt::join(report.zero_filled, ", "));
  }
  if (report.rows_dropped > 0) {
    fmt::print("dropped {} of {} rows that are not finite\n", count_text(report.rows_dropped),
               count_text(table.rows()));
  }
  if (triangles > 0)
    fmt::print("dropped {} triangles: only the vertices are points\n", count_text(triangles));
  fmt::print("{} points of {} columns ({}) written to {}\n", count_text(report.rows), report.written.size(),
             fmt::join(report.written, ", "), options.output);
}

/// --from or --to make it weights; else it is points.
void convert(ConvertOptions& options, bool weights) {
  require_input(options.input);
  prepare_file(options.output);
  if (weights) {
    options.weights.input = options.input;
    options.weights.output = options.output;
    options.weights.as_json = options.as_json;
    return convert_weights(options.weights);
  }
  if (has_ending(options.input, {".safetensors", ".pth", ".pt", ".ckpt"}) ||
      has_ending(options.output, {".safetensors"})) {
    throw InvalidArgument(
        fmt::format("{} to {}: weights need --from LAYOUT and --to LAYOUT", options.input, options.output));
  }
  if (has_ending(options.output, io::point_endings())) return convert_points(options);
  throw InvalidArgument(fmt::format("{}: unknown ending; the formats of points are {}", options.output,
                                    fmt::join(io::point_endings(), " ")));
}

/// The options of one mode are refused in the other.
void add_weight_options(CLI::App& command, WeightsConversion& weights) {
  CLI::Option* from = command.add_option(
      "--from", weights.from,
      "Weights: how the input stores convolutions, never guessed: " + weight_layouts_help());
  CLI::Option* to =
      command.add_option("--to", weights.to, "Weights: how the output shall store them")->needs(from);
  from->needs(to);
  command
      .add_option(
          "--kernel", weights.kernels,
          "Weights: NAME=KzxKyxKx, the kernel of a tensor of the input whose one axis holds all taps (mlx, "
          "minkowski, torchsparse). A cube, 27 say, is 3x3x3 unless it is named")
      ->needs(from)
      ->allow_extra_args(false);
  command
      .add_option(
          "--only", weights.only,
          "Weights: convert only tensors whose names begin with this, such as backbone_3d.; '' is all, in a "
          "file that has convolutions of 2 and of 3 axes")
      ->needs(from)
      ->allow_extra_args(false);  // one value a flag, so that positionals may follow
  for (const char* points_only : {"--columns", "--keep", "--ascii"})
    from->excludes(command.get_option(points_only));
}

}  // namespace

CLI::App* add_convert(CLI::App& app, int& /*exit_code*/) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command =
      app.add_subcommand("convert", "Points in another format, or weights in another layout (--from, --to)");
  command
      ->add_option(
          "input", options->input,
          "Points (.bin, .pcd.bin, .pcd, .ply, .las, .npy, .npz), or a mesh (.obj, .glb), whose vertices "
          "are taken. With --from and --to weights: .safetensors, .npz, .pth, .pt, .ckpt")
      ->required();
  command
      ->add_option(
          "output", options->output,
          ".ply, .pcd, .npy, .npz, .bin, .pcd.bin or .las. Columns keep their names and types where the "
          "format has such; what is dropped, rounded or filled is told. Of weights .safetensors")
      ->required();
  command->add_option("--columns", options->columns,
                      "Names of the columns of .bin, .npy and .npz, such as x,y,z,intensity");
  command->add_option("--keep", options->keep, "Only these columns, in this order, such as x,y,z");
  command->add_flag("--ascii", options->ascii, "Numbers as text, in .ply and .pcd");
  command->add_flag("--json", options->as_json, "Print one JSON object, and nothing else");
  add_weight_options(*command, options->weights);
  command->callback([options, command] { convert(*options, command->count("--from") > 0); });
  return command;
}

}  // namespace aerogel::cli
