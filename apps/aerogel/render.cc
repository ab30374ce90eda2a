// `aerogel render`: a picture of points or sites, from above or in perspective.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "aerogel/error.h"
#include "aerogel/io.h"
#include "aerogel/ops/voxelize.h"

#include "cli.h"
#include "cloud.h"
#include "grid_choice.h"
#include "output.h"
#include "point_options.h"
#include "run_outputs.h"
#include "surface.h"
#include "text.h"
#include "view_options.h"

namespace aerogel::cli {

namespace {

constexpr int kLeastSize = 64;
constexpr int kMostSize = 8192;

struct RenderOptions {
  std::string input;
  PointOptions points;
  std::string colour = "height";
  int size = 1400;
  ViewOptions views;
  std::string out;
};

/// What is drawn, wherever it came from.
struct Scene {
  SparseTensor sites;  // batch, z, y, x
  Tensor points;       // [N] i32; undefined: not known
  RunFiles about;
  PictureOptions picture;
};

bool is_npz(const std::string& input) { return std::filesystem::path(input).extension() == ".npz"; }

const Tensor* find(const std::map<std::string, Tensor>& members, const std::string& name) {
  const auto it = members.find(name);
  return it == members.end() ? nullptr : &it->second;
}

/// The sites of a file that synth, voxelize or run wrote, or of its like; null if it holds points only.
const Tensor* find_sites(const std::map<std::string, Tensor>& members) {
  for (const char* name : {"coords", "indices"}) {
    const Tensor* found = find(members, name);
    if (found != nullptr && found->shape().size() == 2 && found->size(1) == 4 &&
        (found->dtype() == DType::kI32 || found->dtype() == DType::kI64))
      return found;
  }
  return nullptr;
}

/// `count` numbers of a member in double.
std::vector<double> numbers(const std::string& input, const std::string& name, const Tensor& member,
                            std::int64_t count) {
  if (member.numel() < count) {
    throw InvalidArgument(
        fmt::format("{}: {} must hold {} numbers, found {}", input, name, count, member.str()));
  }
  const Tensor values = member.to(DType::kF64);
  const auto* data = values.data<double>();
  return {data, data + count};
}

Dims shape_of(const std::string& input, const Tensor& coords, const Tensor* given) {
  if (given != nullptr) {
    const std::vector<double> shape = numbers(input, "spatial_shape", *given, 3);
    return {static_cast<std::int64_t>(shape[0]), static_cast<std::int64_t>(shape[1]),
            static_cast<std::int64_t>(shape[2])};
  }
  Dims shape = {1, 1, 1};
  const auto* rows = coords.data<std::int32_t>();
  for (std::int64_t i = 0; i < coords.numel(); ++i) {
    if (i % 4 > 0)
      shape[static_cast<int>(i % 4) - 1] =
          std::max<std::int64_t>(shape[static_cast<int>(i % 4) - 1], rows[i] + 1);
  }
  return shape;
}

/// Corner and size of the cells, from the members that the three writers use; cells of 1 if there are none.
void take_grid(const std::string& input, const std::map<std::string, Tensor>& members, Scene& scene) {
  VoxelGrid& grid = scene.about.grid;
  const Tensor* both = find(members, "grid");  // synth: corner, size
  const Tensor* size = find(members, "voxel");
  const Tensor* corner = find(members, "lo") != nullptr ? find(members, "lo") : find(members, "range");
  std::vector<double> cell = {1, 1, 1};
  std::vector<double> lo = {0, 0, 0};
  if (both != nullptr) {
    const std::vector<double> six = numbers(input, "grid", *both, 6);
    lo.assign(six.begin(), six.begin() + 3);
    cell.assign(six.begin() + 3, six.end());
  } else if (size != nullptr) {
    cell = numbers(input, "voxel", *size, 3);
    if (corner != nullptr) lo = numbers(input, find(members, "lo") != nullptr ? "lo" : "range", *corner, 3);
  } else {
    scene.picture.unit = "cells";
  }
  if (const Tensor* stride = find(members, "tensor_stride")) {  // z, y, x
    const std::vector<double> zyx = numbers(input, "tensor_stride", *stride, 3);
    for (std::size_t axis = 0; axis < 3; ++axis) cell[axis] *= zyx[2 - axis];
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(cell[axis] > 0 && std::isfinite(cell[axis]) && std::isfinite(lo[axis])))
      throw InvalidArgument(
          fmt::format("{}: a cell of {} from {} on has no place", input, cell[axis], lo[axis]));
    grid.lo[axis] = static_cast<float>(lo[axis]);
    grid.size[axis] = static_cast<float>(cell[axis]);
  }
}

void require_finite(const std::string& input, const Tensor& features) {
  const auto* values = features.data<float>();
  for (std::int64_t i = 0; i < features.numel(); ++i) {
    if (!std::isfinite(values[i]))
      throw InvalidArgument(
          fmt::format("{}: features are not finite, the first in row {}", input, i / features.size(1)));
  }
}

Scene scene_of_sites(const RenderOptions& options, const std::map<std::string, Tensor>& members) {
  const std::string& input = options.input;
  const Tensor coords = find_sites(members)->to(DType::kI32);
  const std::int64_t rows = coords.size(0);
  Tensor features = Tensor::zeros({rows, 0}, DType::kF32);
  if (const Tensor* found = find(members, "features")) {
    if (found->shape().size() != 2 || found->size(0) != rows) {
      throw InvalidArgument(
          fmt::format("{}: features must have {} rows like the sites, found {}", input, rows, found->str()));
    }
    features = found->to(DType::kF32);
    require_finite(input, features);
  }
  std::int64_t batches = 1;
  const auto* indices = coords.data<std::int32_t>();
  for (std::int64_t i = 0; i < rows; ++i) batches = std::max<std::int64_t>(batches, indices[i * 4] + 1);
  Scene scene;
  try {
    scene.sites = SparseTensor::create(features, coords,
                                       shape_of(input, coords, find(members, "spatial_shape")), batches);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(input + ": " + error.what());
  }
  if (const Tensor* points = find(members, "points_per_voxel"); points != nullptr && points->numel() == rows)
    scene.points = points->to(DType::kI32);
  take_grid(input, members, scene);
  scene.about.title = std::filesystem::path(input).stem().string();
  if (batches > 1) scene.about.title += fmt::format(", the first of {} scenes", batches);
  if (features.size(1) == 1) scene.picture.feature_name = "feature";
  return scene;
}

/// Fine enough to show what is there, coarse enough that neighbouring points touch: twice the root of the
/// points along the longest side, two pixels a cell at least.
std::string picture_voxel(const Cloud& cloud, int size) {
  const double side = cloud.longest_side();
  const double cells = std::clamp(2 * std::sqrt(static_cast<double>(cloud.size())), 30.0, size / 2.0 - 2);
  return fmt::format("{}", side > 0 ? side / cells : 1.0);
}

Scene scene_of_points(const RenderOptions& options) {
  const Cloud cloud = read_cloud_all_columns(options.input, options.points.cloud());
  for (const std::string& line : describe(cloud)) fmt::print("{}\n", line);
  GridRequest request = options.points.grid;
  if (request.voxel.empty() && !cloud.own_grid) request.voxel = picture_voxel(cloud, options.size);
  const GridChoice choice = choose_grid(cloud, nullptr, request);
  const MeanVoxels voxels = voxelize_mean(cloud.points, choice.grid);
  Scene scene;
  scene.sites = voxels.voxels;
  scene.sites.features = other_columns(voxels.voxels.features);
  scene.points = voxels.points_per_voxel;
  scene.about.title = cloud.name;
  scene.about.grid = choice.grid;
  scene.picture.site_name = fmt::format("voxels of {} points", count_text(cloud.size()));
  if (cloud.features.size() == 4) scene.picture.feature_name = cloud.features[3];
  return scene;
}

Scene load_scene(const RenderOptions& options) {
  if (!is_npz(options.input)) return scene_of_points(options);
  require_input(options.input);
  const std::map<std::string, Tensor> members = io::read_npz(options.input);
  if (find_sites(members) == nullptr) return scene_of_points(options);
  const GridRequest& grid = options.points.grid;
  if (!grid.voxel.empty() || !grid.range.empty()) {
    throw InvalidArgument(fmt::format("--{}: {} holds sites, whose cells are drawn as they are",
                                      grid.voxel.empty() ? "range " + grid.range : "voxel " + grid.voxel,
                                      options.input));
  }
  return scene_of_sites(options, members);
}

PictureColour parse_colour(const std::string& name) {
  if (name == "density") return PictureColour::kDensity;
  if (name == "feature") return PictureColour::kFeature;
  return PictureColour::kHeight;
}

/// OUT, or with both views OUT from above and beside it OUT with "_perspective" behind its name.
PicturePaths paths_of(const RenderOptions& options) {
  const bool solid = is_mesh_file(options.input) && options.points.resolution > 0;
  PicturePaths paths;
  if (options.views.bev(!solid)) paths.bev = options.out;
  if (options.views.perspective(solid)) {
    paths.perspective = options.out;
    if (!paths.bev.empty())
      paths.perspective.replace_filename(paths.bev.stem().string() + "_perspective.png");
  }
  return paths;
}

void render(const RenderOptions& options) {
  if (std::filesystem::path(options.out).extension() != ".png")
    throw InvalidArgument(fmt::format("--out {}: the ending must be .png", options.out));
  const PicturePaths paths = paths_of(options);
  for (const std::filesystem::path& path : {paths.bev, paths.perspective}) {
    if (!path.empty()) prepare_file(path);
  }
  Scene scene = load_scene(options);
  throw_if_interrupted();
  if (options.colour == "feature" && scene.sites.channels() == 0)
    throw InvalidArgument(fmt::format("--colour feature: {} has no features to colour by", options.input));
  scene.picture.colour = parse_colour(options.colour);
  scene.picture.long_side = options.size;
  if (!scene.points.defined()) scene.picture.point_name = "sites";
  scene.about.viewpoint = options.views.viewpoint(options.input);
  write_site_pictures(paths, scene.sites, scene.points, scene.about, scene.picture);
  const VoxelGrid& grid = scene.about.grid;
  fmt::print("{} sites in cells of {} x {} x {} {} by {}, written to {}{}\n", count_text(scene.sites.sites()),
             metres_text(static_cast<double>(grid.size[0])), metres_text(static_cast<double>(grid.size[1])),
             metres_text(static_cast<double>(grid.size[2])), scene.picture.unit, options.colour, options.out,
             paths.bev.empty() || paths.perspective.empty() ? "" : " and " + paths.perspective.string());
}

}  // namespace

CLI::App* add_render(CLI::App& app, int& /*exit_code*/) {
  const auto options = std::make_shared<RenderOptions>();
  CLI::App* command = app.add_subcommand("render", "Draw points or sites, from above or in perspective");
  command
      ->add_option("input", options->input,
                   std::string(kInputHelp) + "; or an .npz of sites that synth, voxelize or run wrote")
      ->required();
  command->add_option("--out,-o", options->out, "Picture (.png)")->required();
  add_point_options(*command, options->points,
                    "cells of the longest side by twice the root of the number of points (30 cells at least, "
                    "--size / 2 at most) in the bounding box, or a synthetic set's own cells");
  command
      ->add_option("--colour,--color", options->colour,
                   "height; density: points of each column; feature: of points what they have besides x, y "
                   "and z. Several features become their first three principal components")
      ->capture_default_str()
      ->check(CLI::IsMember({"height", "density", "feature"}));
  command
      ->add_option("--size", options->size,
                   "Pixels of the longer side, about: a cell takes whole pixels, a pixel whole cells")
      ->capture_default_str()
      ->check(CLI::Range(kLeastSize, kMostSize));
  add_view_options(
      *command, options->views,
      "perspective for the surface of a mesh, bev for everything else. With both, the perspective "
      "picture is OUT with _perspective behind its name");
  command->callback([options] { render(*options); });
  return command;
}

}  // namespace aerogel::cli
