// `aerogel convert`: a file in another format. The endings tell what kind of file it is.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "cli.h"
#include "io/parsers.h"
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

/// One mode for each kind of file, told by the output's ending.
void convert(const ConvertOptions& options) {
  require_input(options.input);
  prepare_file(options.output);
  if (has_ending(options.output, io::point_endings())) return convert_points(options);
  throw InvalidArgument(fmt::format("{}: unknown ending; the formats of points are {}", options.output,
                                    fmt::join(io::point_endings(), " ")));
}

}  // namespace

CLI::App* add_convert(CLI::App& app, int& /*exit_code*/) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand("convert", "Points in another format");
  command
      ->add_option(
          "input", options->input,
          "Points (.bin, .pcd.bin, .pcd, .ply, .las, .npy, .npz), or a mesh (.obj, .glb), whose vertices "
          "are taken")
      ->required();
  command
      ->add_option(
          "output", options->output,
          ".ply, .pcd, .npy, .npz, .bin, .pcd.bin or .las. Columns keep their names and types where the "
          "format has such; what is dropped, rounded or filled is told")
      ->required();
  command->add_option("--columns", options->columns,
                      "Names of the columns of .bin, .npy and .npz, such as x,y,z,intensity");
  command->add_option("--keep", options->keep, "Only these columns, in this order, such as x,y,z");
  command->add_flag("--ascii", options->ascii, "Numbers as text, in .ply and .pcd");
  command->add_flag("--json", options->as_json, "Print one JSON object, and nothing else");
  command->callback([options] { convert(*options); });
  return command;
}

}  // namespace aerogel::cli
