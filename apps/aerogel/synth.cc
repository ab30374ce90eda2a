// `aerogel synth`: the synthetic sets as files.
#include <cstdio>

#include <fmt/format.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "cli.h"
#include "geometry.h"
#include "output.h"
#include "text.h"

namespace aerogel::cli {

namespace {

Tensor column(const std::vector<float>& rows, std::size_t width, std::size_t index) {
  std::vector<float> values(rows.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = rows[i * width + index];
  return Tensor::from<float>({static_cast<std::int64_t>(values.size())}, values);
}

std::int64_t count_of(const std::vector<std::int32_t>& values) {
  return static_cast<std::int64_t>(values.size());
}

/// Points of a sweep; the centres of the sites of the other sets, in cells.
std::vector<float> points_of(const Geometry& set) {
  if (!set.points.empty() || !set.point_labels.empty()) return set.points;
  std::vector<float> points;
  points.reserve(set.coords.size());
  for (std::size_t i = 0; i < set.coords.size(); i += 4) {
    for (const std::size_t axis : {3, 2, 1})
      points.push_back(static_cast<float>(set.coords[i + axis]) + 0.5F);
    points.push_back(0);
  }
  return points;
}

void write_npz(const std::string& path, const Geometry& set) {
  std::map<std::string, Tensor> members;
  const std::vector<std::int64_t> shape(set.spatial_shape.begin(), set.spatial_shape.end());
  members["coords"] = Tensor::from<std::int32_t>({set.sites(), 4}, set.coords);
  members["spatial_shape"] = Tensor::from<std::int64_t>({3}, shape);
  if (!set.point_labels.empty()) {
    const std::vector<double> grid = {set.lo[0],    set.lo[1],    set.lo[2],
                                      set.voxel[0], set.voxel[1], set.voxel[2]};
    members["points"] = Tensor::from<float>({count_of(set.point_labels), 4}, set.points);
    members["label"] = Tensor::from<std::int32_t>({count_of(set.point_labels)}, set.point_labels);
    members["site_label"] = Tensor::from<std::int32_t>({count_of(set.site_labels)}, set.site_labels);
    members["grid"] = Tensor::from<double>({6}, grid);
  }
  io::write_npz(path, members);
}

void write_ply(const std::string& path, const Geometry& set) {
  const std::vector<float> points = points_of(set);
  std::vector<float> xyz;
  for (std::size_t i = 0; i < points.size(); i += 4)
    xyz.insert(xyz.end(), points.begin() + i, points.begin() + i + 3);
  std::vector<std::pair<std::string, Tensor>> fields;
  if (!set.point_labels.empty()) {
    const std::vector<float> labels(set.point_labels.begin(), set.point_labels.end());
    fields.emplace_back("intensity", column(points, 4, 3));
    fields.emplace_back("label", Tensor::from<float>({static_cast<std::int64_t>(labels.size())}, labels));
  }
  io::write_ply(path, Tensor::from<float>({static_cast<std::int64_t>(xyz.size() / 3), 3}, xyz), fields);
}

void write_set(const std::string& path, const Geometry& set) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".npz") {
    write_npz(path, set);
  } else if (ending == ".ply") {
    write_ply(path, set);
  } else if (ending == ".npy") {
    io::write_npy(path, Tensor::from<std::int32_t>({set.sites(), 4}, set.coords));
  } else if (ending == ".bin") {
    const std::vector<float> points = points_of(set);
    io::write_file(path, {reinterpret_cast<const char*>(points.data()), points.size() * sizeof(float)});
  } else {
    throw InvalidArgument(
        fmt::format("--out {}: unknown ending; expected .npz (sites, points, labels), .npy (sites), "
                    ".ply or .bin (points)",
                    path));
  }
}

}  // namespace

CLI::App* add_synth(CLI::App& app, int& /*exit_code*/) {
  struct Options {
    std::string spec;
    std::string out;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("synth", "Make a synthetic set of sites: a LiDAR sweep, a shell, random fill");
  command->add_option("geometry", options->spec, "lidar:SEED, shell:R or uniform:R:FILL")->required();
  command
      ->add_option(
          "--out,-o", options->out,
          ".npz: coords [N,4] (batch,z,y,x), spatial_shape, and for a sweep points "
          "[P,4] (x,y,z,intensity), label (0 ground, 1 building, 2 car), site_label, grid; .npy: coords; "
          ".ply, .bin: points")
      ->required();
  command->callback([options] {
    prepare_file(options->out);
    const Geometry set = make_geometry(options->spec);
    write_set(options->out, set);
    fmt::print(
        "{}: {} sites in a grid of {} x {} x {}{}, written to {}\n", set.name, count_text(set.sites()),
        set.spatial_shape[0], set.spatial_shape[1], set.spatial_shape[2],
        set.point_labels.empty() ? "" : fmt::format(", {} points", count_text(count_of(set.point_labels))),
        options->out);
  });
  return command;
}

}  // namespace aerogel::cli
