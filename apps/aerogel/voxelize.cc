// `aerogel voxelize`: points → voxels in an .npz, for other tools.
#include "aerogel/ops/voxelize.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "cli.h"
#include "cloud.h"
#include "grid_choice.h"
#include "output.h"
#include "point_options.h"
#include "text.h"

namespace aerogel::cli {

namespace {

using nlohmann::json;

struct VoxelizeOptions {
  std::string input;
  PointOptions points;
  VoxelCaps caps;
  bool capped = false;
  bool as_json = false;
  std::string out;
};

/// Either mode's arrays, as they go into the file.
struct VoxelArrays {
  std::map<std::string, Tensor> members;
  std::int64_t voxels = 0;
  std::int64_t dropped = 0;  // points without a voxel
};

VoxelArrays mean_mode(const Cloud& cloud, const VoxelGrid& grid) {
  const MeanVoxels mean = voxelize_mean(cloud.points, grid);
  VoxelArrays out;
  out.voxels = mean.voxels.sites();
  out.members["coords"] = mean.voxels.coordinates.indices();
  out.members["features"] = mean.voxels.features;
  out.members["points_per_voxel"] = mean.points_per_voxel;
  out.members["point_voxel"] = mean.point_voxel;
  return out;
}

/// (z, y, x) → (0, z, y, x)
Tensor with_batch(const Tensor& indices) {
  const std::int64_t rows = indices.size(0);
  Tensor coords = Tensor::zeros({rows, 4}, DType::kI32);
  const auto* from = indices.data<std::int32_t>();
  auto* to = coords.mutable_data<std::int32_t>();
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(from + i * 3, 3, to + i * 4 + 1);
  return coords;
}

/// The mean of the stored points of each voxel.
Tensor stored_mean(const Voxels& voxels) {
  const std::int64_t rows = voxels.points.size(0);
  const std::int64_t most = voxels.points.size(1);
  const std::int64_t width = voxels.points.size(2);
  Tensor features = Tensor::zeros({rows, width}, DType::kF32);
  const auto* points = voxels.points.data<float>();
  const auto* counts = voxels.points_per_voxel.data<std::int32_t>();
  auto* out = features.mutable_data<float>();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t f = 0; f < width; ++f) {
      double sum = 0;
      for (std::int64_t k = 0; k < counts[i]; ++k)
        sum += static_cast<double>(points[(i * most + k) * width + f]);
      out[i * width + f] = static_cast<float>(sum / std::max(counts[i], 1));
    }
  }
  return features;
}

VoxelArrays capped_mode(const Cloud& cloud, const VoxelGrid& grid, const VoxelCaps& caps) {
  const Voxels voxels = voxelize(cloud.points, grid, caps);
  VoxelArrays out;
  out.voxels = voxels.indices.size(0);
  out.members["coords"] = with_batch(voxels.indices);
  out.members["features"] = stored_mean(voxels);
  out.members["points"] = voxels.points;
  out.members["points_per_voxel"] = voxels.points_per_voxel;
  out.members["point_voxel"] = voxels.point_voxel;
  return out;
}

json describe_json(const VoxelizeOptions& options, const Cloud& cloud, const GridChoice& choice,
                   const VoxelArrays& arrays) {
  json about = {{"aerogel", std::string(version())},
                {"input", cloud.source},
                {"rows_read", cloud.rows_read},
                {"rows_not_finite", cloud.rows_not_finite},
                {"points", cloud.size()},
                {"points_dropped", arrays.dropped},
                {"features", cloud.features},
                {"surface", cloud.surface},
                {"origin", cloud.origin},
                {"grid", choice.rule},
                {"voxel", choice.grid.size},
                {"range_lo", choice.grid.lo},
                {"range_hi", choice.grid.hi},
                {"mode", options.capped ? "capped" : "mean"},
                {"voxels", arrays.voxels}};
  if (options.capped) {
    about["max_points"] = options.caps.max_points;
    about["max_voxels"] = options.caps.max_voxels;
  }
  return about;
}

void voxelize_input(const VoxelizeOptions& options) {
  if (std::filesystem::path(options.out).extension() != ".npz")
    throw InvalidArgument(fmt::format("--out {}: the ending must be .npz", options.out));
  prepare_file(options.out);
  const Cloud cloud = read_cloud_all_columns(options.input, options.points.cloud());
  const GridChoice choice = choose_grid(cloud, nullptr, options.points.grid);

  VoxelArrays arrays =
      options.capped ? capped_mode(cloud, choice.grid, options.caps) : mean_mode(cloud, choice.grid);
  const auto* ids = arrays.members.at("point_voxel").data<std::int64_t>();
  arrays.dropped = std::count(ids, ids + cloud.size(), -1);
  const json about = describe_json(options, cloud, choice, arrays);

  const VoxelGrid& grid = choice.grid;
  const Dims extents = grid.spatial_shape();
  const std::vector<std::int64_t> shape(extents.begin(), extents.end());
  const std::vector<float> range = {grid.lo[0], grid.lo[1], grid.lo[2], grid.hi[0], grid.hi[1], grid.hi[2]};
  const std::string text = about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::vector<std::uint8_t> meta(text.begin(), text.end());
  arrays.members["spatial_shape"] = Tensor::from<std::int64_t>({3}, shape);
  arrays.members["voxel"] = Tensor::from<float>({3}, std::span<const float>(grid.size, 3));
  arrays.members["range"] = Tensor::from<float>({6}, range);
  arrays.members["origin"] = Tensor::from<double>({3}, std::span<const double>(cloud.origin));
  arrays.members["meta"] = Tensor::from<std::uint8_t>({static_cast<std::int64_t>(meta.size())}, meta);
  throw_if_interrupted();
  io::write_npz(options.out, arrays.members);

  if (options.as_json) {
    fmt::print("{}\n", text);
    return;
  }
  for (const std::string& line : describe(cloud)) fmt::print("{}\n", line);
  fmt::print("{}\n", choice.rule);
  if (options.capped) {
    fmt::print("at most {} points a voxel, {} voxels, in the order in which they were first seen\n",
               count_text(options.caps.max_points), count_text(options.caps.max_voxels));
  }
  fmt::print("{} voxels of {} features ({}); {} of {} points in none; written to {}\n",
             count_text(arrays.voxels), cloud.features.size(), fmt::join(cloud.features, ", "),
             count_text(arrays.dropped), count_text(cloud.size()), options.out);
}

}  // namespace

CLI::App* add_voxelize(CLI::App& app, int& /*exit_code*/) {
  const auto options = std::make_shared<VoxelizeOptions>();
  CLI::App* command = app.add_subcommand("voxelize", "Points to voxels, as arrays in an .npz");
  command->add_option("input", options->input, std::string(kInputHelp) + "; every column is a feature")
      ->required();
  add_point_options(
      *command, options->points,
      "voxels of the input's longest side / 200 in its bounding box, or a synthetic set's own cells");
  CLI::Option* max_points =
      command
          ->add_option(
              "--max-points", options->caps.max_points,
              "Keep the points themselves, at most this many a voxel (capped mode); features are the "
              "mean of those kept")
          ->capture_default_str();
  CLI::Option* max_voxels =
      command->add_option("--max-voxels", options->caps.max_voxels, "At most this many voxels (capped mode)")
          ->capture_default_str();
  command
      ->add_option("--out,-o", options->out,
                   ".npz: coords [N,4] (0,z,y,x), features [N,F], points_per_voxel [N], point_voxel [P] (-1: "
                   "none), spatial_shape (D,H,W), voxel (x,y,z), range, origin, meta; capped also points "
                   "[N,max,F]")
      ->required();
  command->add_flag("--json", options->as_json, "Print one JSON object, and nothing else");
  command->callback([options, max_points, max_voxels] {
    options->capped = max_points->count() > 0 || max_voxels->count() > 0;
    voxelize_input(*options);
  });
  return command;
}

}  // namespace aerogel::cli
