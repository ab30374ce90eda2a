#include "cloud.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "geometry.h"
#include "io/parsers.h"
#include "output.h"
#include "surface.h"
#include "text.h"

namespace aerogel::cli {

namespace fs = std::filesystem;

namespace {

/// Past this many metres an f32 coordinate steps by a millimetre or more.
constexpr double kLargeCoordinate = 10000;

/// Names that other tools give to the same column, the usual one first.
const std::vector<std::vector<std::string>> kSynonyms = {
    {"intensity", "scalar_intensity", "i", "reflectance", "reflectivity", "signal", "remission"},
    {"timestamp", "time", "t", "dt", "time_lag", "gpstime", "gps_time"},
    {"elongation"},
    {"r", "red"},
    {"g", "green"},
    {"b", "blue"}};

int find_column(const io::PointTable& table, const std::string& feature, std::string& found) {
  found = feature;
  if (const int index = table.find(feature); index >= 0) return index;
  for (const auto& names : kSynonyms) {
    if (std::find(names.begin(), names.end(), feature) == names.end()) continue;
    for (const std::string& name : names) {
      found = name;
      if (const int index = table.find(name); index >= 0) return index;
    }
  }
  return -1;
}

std::string short_name(const std::string& source) {
  std::string name = source.rfind("synth:", 0) == 0 ? source.substr(6) : fs::path(source).filename().string();
  if (source.rfind("synth:", 0) != 0) {
    for (const char* ending : {".pcd.bin", ".bin", ".pcd", ".ply", ".npy", ".npz", ".las", ".obj", ".glb"}) {
      if (name.size() > std::string(ending).size() && name.ends_with(ending)) {
        name.resize(name.size() - std::string(ending).size());
        break;
      }
    }
  }
  for (char& c : name) {
    if (c == ':' || c == '/') c = '_';
  }
  return name;
}

/// A table of a synthetic set. Shells and fills are the centres of their cells in the unit cube.
io::PointTable synthetic_table(const std::string& spec, std::optional<OwnGrid>& own_grid) {
  const Geometry set = make_geometry(spec);
  io::PointTable table;
  table.names = {"x", "y", "z"};
  table.columns.resize(3);
  if (spec.rfind("lidar", 0) == 0) {
    table.names.push_back("intensity");
    table.columns.resize(4);
    for (std::size_t i = 0; i < set.points.size(); ++i)
      table.columns[i % 4].push_back(static_cast<double>(set.points[i]));
    return table;
  }
  const double size = 1.0 / static_cast<double>(set.spatial_shape[0]);
  for (std::size_t i = 0; i < set.coords.size(); i += 4) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      table.columns[axis].push_back((set.coords[i + 3 - axis] + 0.5) * size);
  }
  own_grid = OwnGrid{{0, 0, 0}, {1, 1, 1}, {size, size, size}};
  return table;
}

std::vector<std::int64_t> finite_rows(const io::PointTable& table, const std::vector<int>& used,
                                      std::int64_t& first_bad) {
  std::vector<std::int64_t> rows;
  first_bad = -1;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const bool finite = std::all_of(used.begin(), used.end(), [&](int column) {
      return column < 0 ||
             std::isfinite(static_cast<float>(
                 table.columns[static_cast<std::size_t>(column)][static_cast<std::size_t>(row)]));
    });
    if (finite)
      rows.push_back(row);
    else if (first_bad < 0)
      first_bad = row;
  }
  return rows;
}

Cloud cloud_of(const std::string& source, const io::PointTable& table,
               const std::vector<std::string>& features, const CloudOptions& options) {
  Cloud cloud;
  cloud.source = source;
  cloud.name = short_name(source);
  cloud.features = features;
  cloud.rows_read = table.rows();
  std::vector<int> used;
  for (std::size_t i = 0; i < features.size(); ++i) {
    std::string found;
    const int column = find_column(table, features[i], found);
    if (column < 0 && i < 3) {
      throw InvalidArgument(fmt::format("{}: there is no column {}; its columns are {}", source, features[i],
                                        fmt::join(table.names, ", ")));
    }
    if (column < 0)
      cloud.missing.push_back(features[i]);
    else if (found != features[i])
      cloud.renamed.push_back(features[i] + " from " + found);
    used.push_back(column);
  }
  std::int64_t first_bad = -1;
  const std::vector<std::int64_t> rows = finite_rows(table, used, first_bad);
  cloud.rows_not_finite = table.rows() - static_cast<std::int64_t>(rows.size());
  if (options.strict && cloud.rows_not_finite > 0) {
    throw InvalidArgument(fmt::format("{}: {} rows are not finite, the first is row {} (--strict)", source,
                                      count_text(cloud.rows_not_finite), first_bad));
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (rows.empty()) break;
    const std::vector<double>& column = table.columns[static_cast<std::size_t>(used[axis])];
    double lo = column[static_cast<std::size_t>(rows[0])];
    double hi = lo;
    for (const std::int64_t row : rows) {
      lo = std::min(lo, column[static_cast<std::size_t>(row)]);
      hi = std::max(hi, column[static_cast<std::size_t>(row)]);
    }
    if (std::max(std::abs(lo), std::abs(hi)) > kLargeCoordinate) cloud.origin[axis] = std::floor(lo);
    cloud.shifted = cloud.shifted || cloud.origin[axis] != 0;
    cloud.lo[axis] = lo - cloud.origin[axis];
    cloud.hi[axis] = hi - cloud.origin[axis];
  }
  const auto width = static_cast<std::int64_t>(features.size());
  cloud.points = Tensor::zeros({static_cast<std::int64_t>(rows.size()), width}, DType::kF32);
  auto* out = cloud.points.mutable_data<float>();
  for (std::size_t feature = 0; feature < features.size(); ++feature) {
    if (used[feature] < 0) continue;
    const std::vector<double>& column = table.columns[static_cast<std::size_t>(used[feature])];
    const double origin = feature < 3 ? cloud.origin[feature] : 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out[i * features.size() + feature] =
          static_cast<float>(column[static_cast<std::size_t>(rows[i])] - origin);
    }
  }
  return cloud;
}

io::PointTable read_table(const std::string& source, const CloudOptions& options,
                          std::optional<OwnGrid>& own_grid, std::string& surface_note) {
  if (source.rfind("synth:", 0) == 0) return synthetic_table(source.substr(6), own_grid);
  require_input(source);
  // A .ply has columns of its own either way.
  const bool vertices_only =
      options.resolution == 0 && io::lower_case(fs::path(source).extension().string()) == ".ply";
  if (vertices_only || !is_mesh_file(source)) {
    io::PointReadOptions read;
    read.columns = options.columns;
    return io::read_points(source, read);
  }
  const io::Mesh mesh = io::read_mesh(source);
  if (options.resolution == 0 || mesh.faces.size(0) == 0) return vertex_table(mesh);
  Surface surface = voxelize_surface(mesh, options.resolution, options.grid);
  if (options.strict && surface.faces_not_finite > 0) {
    throw InvalidArgument(fmt::format("{}: {} triangles are not finite (--strict)", source,
                                      count_text(surface.faces_not_finite)));
  }
  own_grid = surface.grid;
  surface_note = surface.note;
  return std::move(surface.centres);
}

bool is_input_file(const fs::path& path) {
  const std::string ending = io::lower_case(path.extension().string());
  const auto is_one_of = [&](const std::vector<std::string>& known) {
    return std::find(known.begin(), known.end(), ending) != known.end();
  };
  return is_one_of(io::point_endings()) || is_one_of(io::mesh_endings());
}

/// What is behind both ways to read: the grid moves with the points.
Cloud read_with(const std::string& source, std::vector<std::string> features, bool all_columns,
                const CloudOptions& options) {
  std::optional<OwnGrid> own_grid;
  std::string surface;
  const io::PointTable table = read_table(source, options, own_grid, surface);
  for (const std::string& name : table.names) {
    if (all_columns && name != "x" && name != "y" && name != "z") features.push_back(name);
  }
  Cloud cloud = cloud_of(source, table, features, options);
  cloud.surface = surface;
  cloud.own_grid = own_grid;
  for (std::size_t axis = 0; cloud.own_grid && axis < 3; ++axis) {
    cloud.own_grid->lo[axis] -= cloud.origin[axis];
    cloud.own_grid->hi[axis] -= cloud.origin[axis];
  }
  return cloud;
}

}  // namespace

double Cloud::longest_side() const { return std::max({hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}); }

Cloud read_cloud(const std::string& source, const std::vector<std::string>& features,
                 const CloudOptions& options) {
  return read_with(source, features, false, options);
}

Cloud read_cloud_all_columns(const std::string& source, const CloudOptions& options) {
  return read_with(source, {"x", "y", "z"}, true, options);
}

std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::string> sources;
  for (const std::string& input : inputs) {
    if (input.rfind("synth:", 0) == 0 || !fs::is_directory(input)) {
      if (input.rfind("synth:", 0) != 0) require_input(input);
      sources.push_back(input);
      continue;
    }
    std::vector<std::string> files;
    bool folders = false;
    for (const fs::directory_entry& entry : fs::directory_iterator(input)) {
      std::error_code error;
      folders = folders || entry.is_directory(error);
      if (entry.is_regular_file(error) && is_input_file(entry.path())) files.push_back(entry.path().string());
    }
    if (files.empty()) {
      throw InvalidArgument(
          fmt::format("{}: no points ({}) and no meshes ({}) in this folder{}", input,
                      fmt::join(io::point_endings(), " "), fmt::join(io::mesh_endings(), " "),
                      folders ? " itself; folders in it are not searched, so name them one by one" : ""));
    }
    std::sort(files.begin(), files.end());
    sources.insert(sources.end(), files.begin(), files.end());
  }
  return sources;
}

Tensor other_columns(const Tensor& features) {
  const std::int64_t width = features.size(1);
  Tensor out = Tensor::empty({features.size(0), width - 3}, DType::kF32);
  const auto* from = features.data<float>();
  auto* to = out.mutable_data<float>();
  for (std::int64_t i = 0; i < features.size(0); ++i)
    to = std::copy(from + i * width + 3, from + (i + 1) * width, to);
  return out;
}

std::vector<std::string> describe(const Cloud& cloud) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} points, {} x {} x {} m", cloud.source, count_text(cloud.size()),
                              metres_text(cloud.hi[0] - cloud.lo[0]), metres_text(cloud.hi[1] - cloud.lo[1]),
                              metres_text(cloud.hi[2] - cloud.lo[2])));
  if (!cloud.surface.empty()) lines.push_back(cloud.surface);
  if (cloud.rows_not_finite > 0) {
    lines.push_back(fmt::format("dropped {} of {} rows that are not finite",
                                count_text(cloud.rows_not_finite), count_text(cloud.rows_read)));
  }
  if (cloud.shifted) {
    lines.push_back(
        fmt::format("coordinates shifted by the origin ({:.0f}, {:.0f}, {:.0f}) before they became f32",
                    cloud.origin[0], cloud.origin[1], cloud.origin[2]));
  }
  if (!cloud.renamed.empty()) lines.push_back(fmt::format("columns: {}", fmt::join(cloud.renamed, ", ")));
  if (!cloud.missing.empty()) {
    lines.push_back(fmt::format("the input has no {}: filled with zeros", fmt::join(cloud.missing, ", ")));
  }
  return lines;
}

}  // namespace aerogel::cli
