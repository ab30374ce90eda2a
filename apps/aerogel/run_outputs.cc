#include "run_outputs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "aerogel/io.h"

#include "pca.h"
#include "perspective.h"
#include "picture.h"
#include "text.h"

namespace aerogel::cli {

namespace {

Tensor column(const float* values, std::int64_t rows, std::int64_t width, std::int64_t index) {
  Tensor out = Tensor::empty({rows}, DType::kF32);
  auto* to = out.mutable_data<float>();
  for (std::int64_t i = 0; i < rows; ++i) to[i] = values[i * width + index];
  return out;
}

/// Centres of the sites' cells in metres, in the coordinates of the input (the origin added again only as far
/// as f32 holds it: it is reported beside).
Tensor site_centres(const Coordinates& sites, const VoxelGrid& grid) {
  Tensor xyz = Tensor::empty({sites.size(), 3}, DType::kF32);
  auto* out = xyz.mutable_data<float>();
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {  // x, y, z from columns 3, 2, 1
      const double cell =
          static_cast<double>(grid.size[axis]) * static_cast<double>(sites.tensor_stride()[2 - axis]);
      *out++ = static_cast<float>(static_cast<double>(grid.lo[axis]) + (sites.row(i)[3 - axis] + 0.5) * cell);
    }
  }
  return xyz;
}

/// Points of a site; 1 where nobody counted them.
double points_of(const Tensor& points, std::int64_t site) {
  return points.defined() ? static_cast<double>(points.data<std::int32_t>()[site]) : 1;
}

/// Stretches each component from its 2nd to its 98th percentile over 0 … 1.
std::vector<float> stretched(const Components& components, std::int64_t rows) {
  const auto count = static_cast<std::size_t>(components.count);
  std::vector<float> out(components.scores.size());
  std::vector<float> sorted(static_cast<std::size_t>(rows));
  for (std::size_t k = 0; k < count && rows > 0; ++k) {
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = components.scores[i * count + k];
    std::sort(sorted.begin(), sorted.end());
    const float low = sorted[sorted.size() / 50];
    const float high = sorted[sorted.size() - 1 - sorted.size() / 50];
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const float t = (components.scores[i * count + k] - low) / std::max(high - low, 1e-20F);
      out[i * count + k] = t > 0 ? std::min(t, 1.0F) : 0;  // 0 for NaN as well
    }
  }
  return out;
}

/// Three stretched components as red, green and blue.
Light component_light(const std::vector<float>& colours, std::int64_t count, std::int64_t site) {
  Light light{};
  for (std::size_t k = 0; k < 3; ++k) {
    const float t =
        static_cast<std::int64_t>(k) < count ? colours[static_cast<std::size_t>(site * count) + k] : 0;
    light[k] = std::pow(0.14F + 0.84F * t, 2.2F);
  }
  return light;
}

/// The highest site of each (y, x), coloured by its components.
std::vector<PlanCell> component_plan(const Coordinates& sites, const std::vector<float>& colours,
                                     std::int64_t count) {
  std::unordered_map<std::int64_t, std::int64_t> top;
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    const std::int32_t* row = sites.row(i);
    if (row[0] != 0) continue;
    const auto [it, fresh] = top.try_emplace(static_cast<std::int64_t>(row[2]) << 32 | row[3], i);
    if (!fresh && sites.row(it->second)[1] < row[1]) it->second = i;
  }
  std::vector<PlanCell> cells;
  cells.reserve(top.size());
  for (const auto& [key, site] : top) {
    cells.push_back({sites.row(site)[3], sites.row(site)[2], component_light(colours, count, site), 1});
  }
  return cells;
}

std::string caption(const RunFiles& about, std::int64_t sites, const std::string& what) {
  return fmt::format("{}: {} {}", about.title, count_text(sites), what);
}

/// Height as colour, points as brightness; sets the legend.
std::vector<PlanCell> coloured_by_height(const Coordinates& sites, const Tensor& points,
                                         const RunFiles& about, PictureStyle& style) {
  std::vector<PlanSite> plan;
  plan.reserve(static_cast<std::size_t>(sites.size()));
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    const std::int32_t* row = sites.row(i);
    if (row[0] != 0) continue;
    const double height =
        static_cast<double>(about.grid.lo[2]) + (row[1] + 0.5) * static_cast<double>(about.grid.size[2]);
    plan.push_back({row[3], row[2], height, points_of(points, i)});
  }
  HeightRange range;
  std::vector<PlanCell> cells = height_plan(plan, range);
  style.legend_title = "height";
  style.legend_low = fmt::format("{:.3g}", range.low);
  style.legend_high = fmt::format("{:.3g} {}", range.high, style.unit);
  return cells;
}

/// The colour map over the points of each (y, x), on a logarithmic scale; sets the legend.
std::vector<PlanCell> coloured_by_density(const Coordinates& sites, const Tensor& points,
                                          const std::string& point_name, PictureStyle& style) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> columns;
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    const std::int32_t* row = sites.row(i);
    if (row[0] == 0) columns[{row[2], row[3]}] += points_of(points, i);
  }
  std::vector<PlanSite> plan;
  plan.reserve(columns.size());
  for (const auto& [place, count] : columns)
    plan.push_back({place.second, place.first, std::log10(std::max(count, 1.0)), 2});
  HeightRange range;
  std::vector<PlanCell> cells = height_plan(plan, range);
  style.legend_title = point_name + " a column";
  style.legend_low = fmt::format("{:.0f}", std::pow(10.0, range.low));
  style.legend_high = fmt::format("{:.0f}", std::pow(10.0, range.high));
  return cells;
}

/// The colour map over the largest value of each (y, x); sets the legend.
std::vector<PlanCell> coloured_by_value(const SparseTensor& sites, const std::string& name,
                                        PictureStyle& style) {
  const auto* values = sites.features.data<float>();
  std::vector<PlanSite> plan;
  for (std::int64_t i = 0; i < sites.sites(); ++i) {
    const std::int32_t* row = sites.coordinates.row(i);
    if (row[0] == 0) plan.push_back({row[3], row[2], static_cast<double>(values[i]), 2});
  }
  HeightRange range;
  std::vector<PlanCell> cells = height_plan(plan, range);
  style.legend_title = name;
  style.legend_low = fmt::format("{:.3g}", range.low);
  style.legend_high = fmt::format("{:.3g}", range.high);
  return cells;
}

/// The legend of three principal components as red, green and blue.
void take_legend(const Components& components, PictureStyle& style) {
  double explained = 0;
  for (const double share : components.explained) explained += share;
  style.legend_title = fmt::format("{:.0f} % of variance", 100 * explained);
  style.components = true;
}

/// The colour map over one value of each site; sets the ends of the legend.
std::vector<Light> colours_of(const std::vector<double>& values, PictureStyle& style,
                              const std::string& unit) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double q) {
    return sorted.empty() ? 0.0
                          : sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  const double low = quantile(0.01);
  const double high = quantile(0.995);
  style.legend_low = fmt::format("{:.3g}", low);
  style.legend_high = fmt::format("{:.3g}{}", high, unit);
  std::vector<Light> colours;
  colours.reserve(values.size());
  for (const double value : values) {
    const double t = (value - low) / std::max(high - low, 1e-9);
    colours.push_back(height_colour(t > 0 ? static_cast<float>(std::min(t, 1.0)) : 0));  // 0 for NaN as well
  }
  return colours;
}

/// Height of a site along an axis, in the unit of the grid.
double height_of(const Coordinates& sites, std::int64_t site, const RunFiles& about) {
  const int axis = static_cast<int>(about.viewpoint.up) % 3;
  const double cell =
      static_cast<double>(about.grid.size[axis]) * static_cast<double>(sites.tensor_stride()[2 - axis]);
  const double at = static_cast<double>(about.grid.lo[axis]) + (sites.row(site)[3 - axis] + 0.5) * cell;
  return about.viewpoint.up < Up::kMinusX ? at : -at;
}

/// A colour for each site; sets the legend. `components` may be null where none are asked for.
std::vector<Light> site_colours(const SparseTensor& sites, const Tensor& points, const RunFiles& about,
                                const PictureOptions& options, const Components* components,
                                PictureStyle& style) {
  if (components != nullptr) {
    take_legend(*components, style);
    const std::vector<float> colours = stretched(*components, sites.sites());
    std::vector<Light> lights;
    for (std::int64_t i = 0; i < sites.sites(); ++i)
      lights.push_back(component_light(colours, components->count, i));
    return lights;
  }
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(sites.sites()));
  for (std::int64_t i = 0; i < sites.sites(); ++i) {
    values.push_back(options.colour == PictureColour::kHeight ? height_of(sites.coordinates, i, about)
                     : options.colour == PictureColour::kDensity
                         ? points_of(points, i)
                         : static_cast<double>(sites.features.data<float>()[i]));
  }
  switch (options.colour) {
    case PictureColour::kHeight:
      style.legend_title = "height";
      return colours_of(values, style, " " + options.unit);
    case PictureColour::kDensity:
      style.legend_title = options.point_name + " a site";
      return colours_of(values, style, "");
    default:
      style.legend_title = options.feature_name;
      return colours_of(values, style, "");
  }
}

/// The sites of batch 0 as boxes.
void write_solid(const std::filesystem::path& path, const Coordinates& sites,
                 const std::vector<Light>& colours, const RunFiles& about, const PictureStyle& style) {
  std::vector<SolidCell> cells;
  cells.reserve(colours.size());
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    const std::int32_t* row = sites.row(i);
    if (row[0] == 0) cells.push_back({row[3], row[2], row[1], colours[static_cast<std::size_t>(i)]});
  }
  std::array<double, 3> size{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    size[axis] = static_cast<double>(about.grid.size[axis]) *
                 static_cast<double>(sites.tensor_stride()[2 - static_cast<int>(axis)]);
  }
  write_perspective(path, cells, size, about.viewpoint, style);
}

PictureStyle style_of(const RunFiles& about, const Coordinates& sites, const PictureOptions& options) {
  PictureStyle style;
  style.long_side = options.long_side;
  style.caption = caption(about, sites.size(), options.site_name);
  style.note = about.note;
  style.cell_metres = static_cast<double>(about.grid.size[0]) * static_cast<double>(sites.tensor_stride()[2]);
  style.unit = options.unit;
  return style;
}

void write_bev(const std::filesystem::path& path, const SparseTensor& sites, const Tensor& points,
               const RunFiles& about, const PictureOptions& options, const Components* components) {
  PictureStyle style = style_of(about, sites.coordinates, options);
  if (components != nullptr) {
    take_legend(*components, style);
    const std::vector<float> colours = stretched(*components, sites.sites());
    write_plan(path, component_plan(sites.coordinates, colours, components->count), style);
    return;
  }
  switch (options.colour) {
    case PictureColour::kHeight:
      write_plan(path, coloured_by_height(sites.coordinates, points, about, style), style);
      return;
    case PictureColour::kDensity:
      write_plan(path, coloured_by_density(sites.coordinates, points, options.point_name, style), style);
      return;
    case PictureColour::kFeature:
      write_plan(path, coloured_by_value(sites, options.feature_name, style), style);
  }
}

void write_views(const PicturePaths& paths, const SparseTensor& sites, const Tensor& points,
                 const RunFiles& about, const PictureOptions& options, const Components* components) {
  if (!paths.bev.empty()) write_bev(paths.bev, sites, points, about, options, components);
  if (paths.perspective.empty()) return;
  PictureStyle style = style_of(about, sites.coordinates, options);
  const std::vector<Light> colours = site_colours(sites, points, about, options, components, style);
  write_solid(paths.perspective, sites.coordinates, colours, about, style);
}

}  // namespace

void write_site_pictures(const PicturePaths& paths, const SparseTensor& sites, const Tensor& points,
                         const RunFiles& about, const PictureOptions& options) {
  if (options.colour != PictureColour::kFeature || sites.channels() == 1) {
    write_views(paths, sites, points, about, options, nullptr);
    return;
  }
  const Components components = principal_components(sites.features, 3);
  write_views(paths, sites, points, about, options, &components);
}

void write_input_pictures(const PicturePaths& paths, const MeanVoxels& voxels, const RunFiles& about) {
  PictureOptions options;
  options.site_name = "input sites";
  RunFiles without_note = about;  // no weights took part in it
  without_note.note.clear();
  write_site_pictures(paths, voxels.voxels, voxels.points_per_voxel, without_note, options);
}

std::vector<double> write_feature_files(const std::filesystem::path& folder, const PicturePaths& paths,
                                        const SparseTensor& features, const RunFiles& about) {
  const Coordinates& sites = features.coordinates;
  const std::int64_t rows = sites.size();
  const std::int64_t channels = features.channels();
  std::map<std::string, Tensor> members;
  const std::vector<std::int64_t> shape(sites.spatial_shape().begin(), sites.spatial_shape().end());
  const std::vector<std::int64_t> stride(sites.tensor_stride().begin(), sites.tensor_stride().end());
  members["indices"] = sites.indices();
  members["features"] = features.features;
  members["spatial_shape"] = Tensor::from<std::int64_t>({3}, shape);
  members["tensor_stride"] = Tensor::from<std::int64_t>({3}, stride);
  members["voxel"] = Tensor::from<float>({3}, std::span<const float>(about.grid.size, 3));
  members["lo"] = Tensor::from<float>({3}, std::span<const float>(about.grid.lo, 3));
  members["origin"] = Tensor::from<double>({3}, std::span<const double>(about.cloud->origin));
  const std::vector<std::uint8_t> meta(about.meta_json.begin(), about.meta_json.end());
  members["meta"] = Tensor::from<std::uint8_t>({static_cast<std::int64_t>(meta.size())}, meta);  // JSON text
  io::write_npz(folder / "features.npz", members);

  const Components components = principal_components(features.features, 3);
  std::vector<std::pair<std::string, Tensor>> fields;
  for (std::int64_t k = 0; k < components.count; ++k) {
    fields.emplace_back(fmt::format("pc{}", k + 1),
                        column(components.scores.data(), rows, components.count, k));
  }
  for (std::int64_t c = 0; c < std::min<std::int64_t>(channels, 8); ++c) {
    fields.emplace_back(fmt::format("feature_{}", c),
                        column(features.features.data<float>(), rows, channels, c));
  }
  io::write_ply(folder / "features.ply", site_centres(sites, about.grid), fields, about.note);

  PictureOptions options;
  options.site_name = "output sites";
  write_views(paths, features, {}, about, options, &components);
  return components.explained;
}

}  // namespace aerogel::cli
