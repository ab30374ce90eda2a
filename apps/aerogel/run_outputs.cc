#include "run_outputs.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "aerogel/io.h"

#include "pca.h"
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
      out[i * count + k] =
          std::clamp((components.scores[i * count + k] - low) / std::max(high - low, 1e-20F), 0.0F, 1.0F);
    }
  }
  return out;
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
    Light light{};
    for (std::size_t k = 0; k < 3; ++k) {
      const float t =
          static_cast<std::int64_t>(k) < count ? colours[static_cast<std::size_t>(site * count) + k] : 0;
      light[k] = std::pow(0.14F + 0.84F * t, 2.2F);
    }
    cells.push_back({sites.row(site)[3], sites.row(site)[2], light, 1});
  }
  return cells;
}

std::string caption(const RunFiles& about, std::int64_t sites, const char* what) {
  return fmt::format("{}: {} {}", about.title, count_text(sites), what);
}

}  // namespace

void write_input_picture(const std::filesystem::path& path, const MeanVoxels& voxels, const RunFiles& about) {
  const Coordinates& sites = voxels.voxels.coordinates;
  const auto* points = voxels.points_per_voxel.data<std::int32_t>();
  std::vector<PlanSite> plan;
  plan.reserve(static_cast<std::size_t>(sites.size()));
  for (std::int64_t i = 0; i < sites.size(); ++i) {
    const std::int32_t* row = sites.row(i);
    const double height =
        static_cast<double>(about.grid.lo[2]) + (row[1] + 0.5) * static_cast<double>(about.grid.size[2]);
    plan.push_back({row[3], row[2], height, static_cast<double>(points[i])});
  }
  HeightRange range;
  const std::vector<PlanCell> cells = height_plan(plan, range);
  PlanStyle style;
  style.caption = caption(about, sites.size(), "input sites");
  style.cell_metres = static_cast<double>(about.grid.size[0]);
  style.legend_title = "height";
  style.legend_low = fmt::format("{:.3g}", range.low);
  style.legend_high = fmt::format("{:.3g} m", range.high);
  write_plan(path, cells, style);
}

std::vector<double> write_feature_files(const std::filesystem::path& folder, const SparseTensor& features,
                                        const RunFiles& about) {
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
  io::write_ply(folder / "features.ply", site_centres(sites, about.grid), fields);

  PlanStyle style;
  style.caption = caption(about, rows, "output sites");
  style.note = about.note;
  style.cell_metres = static_cast<double>(about.grid.size[0]) * static_cast<double>(sites.tensor_stride()[2]);
  double explained = 0;
  for (const double share : components.explained) explained += share;
  style.legend_title = fmt::format("{:.0f} % of variance", 100 * explained);
  style.components = true;
  write_plan(folder / "bev_features.png",
             component_plan(sites, stretched(components, rows), components.count), style);
  return components.explained;
}

}  // namespace aerogel::cli
