#include "bench_sites.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "aerogel/error.h"
#include "aerogel/io.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/voxelize.h"

#include "cloud.h"
#include "geometry.h"
#include "grid_choice.h"
#include "output.h"

namespace aerogel::cli {

namespace {

constexpr const char* kShuffled = "_shuffled";
constexpr double kShellSites = 2.67;  // a shell of resolution R has about 2.67 R² sites

BenchSites from_geometry(const Geometry& geometry) {
  return {geometry.name,
          {},
          Tensor::from<std::int32_t>({geometry.sites(), 4}, geometry.coords),
          Dims(geometry.spatial_shape),
          1};
}

/// Rows as they are; the grid is as large as they need unless `shape` is given.
BenchSites from_rows(const Tensor& coords, Dims shape, const std::string& path) {
  if (coords.shape().size() != 2 || coords.size(1) < 2 || coords.size(1) > 1 + kMaxNdim) {
    throw InvalidArgument(
        fmt::format("{}: sites are [N, 1 + axes] integers, this is {}", path, coords.str()));
  }
  BenchSites sites;
  sites.indices = coords.to(DType::kI32);
  const std::int64_t width = coords.size(1);
  const auto* row = sites.indices.data<std::int32_t>();
  Dims most = Dims::filled(static_cast<int>(width), 1);
  for (std::int64_t i = 0; i < coords.numel(); ++i) {
    std::int64_t& extent = most[static_cast<int>(i % width)];
    extent = std::max<std::int64_t>(extent, std::int64_t{row[i]} + 1);
  }
  sites.batch_size = most[0];
  for (int axis = 1; axis < most.size(); ++axis) sites.spatial_shape.push_back(most[axis]);
  if (!shape.empty()) sites.spatial_shape = shape;
  return sites;
}

bool is_integer(const Tensor& tensor) {
  return tensor.dtype() == DType::kI32 || tensor.dtype() == DType::kI64;
}

BenchSites from_file(const std::string& path, const std::string& voxel) {
  require_input(path);
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".npz") {
    const auto arrays = io::read_npz(path);
    const auto coords = arrays.find("coords");
    if (coords != arrays.end() && is_integer(coords->second)) {
      Dims shape;
      const auto extents = arrays.find("spatial_shape");
      if (extents != arrays.end() && is_integer(extents->second)) {
        const Tensor values = extents->second.to(DType::kI64);
        for (std::int64_t i = 0; i < values.numel(); ++i) shape.push_back(values.data<std::int64_t>()[i]);
      }
      return from_rows(coords->second, shape, path);
    }
  } else if (ending == ".npy") {
    const Tensor array = io::read_npy(path);
    if (is_integer(array)) return from_rows(array, {}, path);
  }
  const Cloud cloud = read_cloud_all_columns(path, {});
  const Coordinates set =
      voxelize_mean(cloud.points, choose_grid(cloud, nullptr, {voxel, ""}).grid).voxels.coordinates;
  return {{}, {}, set.indices(), set.spatial_shape(), 1};
}

/// Fisher–Yates with counter-based randomness.
Tensor shuffled(const Tensor& indices, std::uint64_t seed) {
  Tensor rows = indices.clone();
  const std::int64_t width = rows.size(1);
  auto* data = rows.mutable_data<std::int32_t>();
  for (std::int64_t i = rows.size(0) - 1; i > 0; --i) {
    const auto j =
        static_cast<std::int64_t>(unit(seed, static_cast<std::uint64_t>(i)) * static_cast<double>(i + 1));
    std::swap_ranges(data + i * width, data + (i + 1) * width, data + j * width);
  }
  return rows;
}

/// Rows of other columns, sorted and distinct.
BenchSites with_columns(const BenchSites& sites, const std::vector<int>& columns) {
  const std::int64_t width = sites.indices.size(1);
  const auto* row = sites.indices.data<std::int32_t>();
  std::vector<std::array<std::int32_t, 4>> rows;
  for (std::int64_t i = 0; i < sites.size(); ++i, row += width) {
    std::array<std::int32_t, 4> picked{};
    for (std::size_t k = 0; k < columns.size(); ++k) picked[k] = row[columns[k]];
    rows.push_back(picked);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  BenchSites out = sites;
  out.indices = Tensor::empty(
      {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns.size())}, DType::kI32);
  auto* to = out.indices.mutable_data<std::int32_t>();
  for (const auto& picked : rows)
    to = std::copy_n(picked.begin(), static_cast<std::ptrdiff_t>(columns.size()), to);
  out.spatial_shape = {};
  for (std::size_t k = 1; k < columns.size(); ++k)
    out.spatial_shape.push_back(sites.spatial_shape[columns[k] - 1]);
  return out;
}

}  // namespace

Coordinates coordinates_of(const BenchSites& sites) {
  return Coordinates::create(sites.indices, sites.spatial_shape, sites.batch_size);
}

BenchSites bench_sites(const std::string& spec, const std::string& voxel, bool shuffle, std::uint64_t seed) {
  const bool is_file = spec.rfind("file:", 0) == 0;
  BenchSites sites = is_file ? from_file(spec.substr(5), voxel) : from_geometry(make_geometry(spec));
  sites.name = spec;
  sites.key = spec;
  if (is_file) {
    sites.key[4] = '_';
    if (sites.key.find(':') != std::string::npos || !voxel.empty()) sites.key.clear();
  } else {
    std::replace(sites.key.begin(), sites.key.end(), ':', '_');
  }
  if (shuffle) {
    sites.indices = shuffled(sites.indices, seed);
    sites.name += " shuffled";
    if (!sites.key.empty()) sites.key += kShuffled;
  }
  return sites;
}

std::string spec_of_key(const std::string& key, bool& shuffle) {
  std::string spec = key;
  const std::size_t tail = std::string(kShuffled).size();
  if (spec.size() > tail && spec.compare(spec.size() - tail, tail, kShuffled) == 0) {
    spec.resize(spec.size() - tail);
    shuffle = true;
  }
  if (spec.rfind("file_", 0) == 0) {
    spec[4] = ':';
  } else {
    std::replace(spec.begin(), spec.end(), '_', ':');
  }
  return spec;
}

BenchSites sweep_sites(const Dims& grid, std::int64_t target) {
  const bool flat = grid.size() == 2;
  const bool x_first = !flat && grid[0] > grid[2];
  std::array<std::int64_t, 3> extents{};  // x, y, z
  if (flat) {
    extents = {grid[1], grid[0], 1};
  } else if (x_first) {
    extents = {grid[0], grid[1], grid[2]};
  } else {
    extents = {grid[2], grid[1], grid[0]};
  }
  SweepGrid sweep;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sweep.voxel[axis] = (sweep.hi[axis] - sweep.lo[axis]) / static_cast<double>(extents[axis]);
  }
  constexpr int kMostSweeps = 24;
  constexpr double kNear = 1.15;
  Geometry geometry;
  for (int attempt = 0; attempt < 8; ++attempt) {
    geometry = lidar(0, sweep);
    const double ratio =
        static_cast<double>(target) / static_cast<double>(std::max<std::int64_t>(geometry.sites(), 1));
    if (ratio < kNear && ratio > 1 / kNear) break;
    if (ratio < 1 || sweep.keep < 1) {
      sweep.keep = std::clamp(sweep.keep * ratio, 1e-3, 1.0);
    } else if (sweep.sweeps < kMostSweeps) {
      sweep.sweeps = std::min(std::max(sweep.sweeps + 1, static_cast<int>(std::ceil(sweep.sweeps * ratio))),
                              kMostSweeps);
    } else {
      break;
    }
  }
  BenchSites sites = from_geometry(geometry);
  if (flat) sites = with_columns(sites, {0, 2, 3});
  if (x_first) sites = with_columns(sites, {0, 3, 2, 1});
  sites.name = fmt::format("{} sweep{} in {}", sweep.sweeps, sweep.sweeps == 1 ? "" : "s", grid.joined('x'));
  if (sweep.keep < 1) sites.name += fmt::format(", {:.0f} % of the rays", 100 * sweep.keep);
  return sites;
}

BenchSites shell_sites(std::int64_t target) {
  const auto resolution =
      std::max<std::int64_t>(std::llround(std::sqrt(static_cast<double>(target) / kShellSites)), 4);
  return bench_sites(fmt::format("shell:{}", resolution), "", false, 0);
}

BenchSites strided(const BenchSites& sites, const KernelSpec& spec) {
  const Coordinates out = build_kernel_map(coordinates_of(sites), spec)->new_coordinates;
  return {fmt::format("{} / {}s{}", sites.name, spec.kernel.joined('x'), spec.stride.joined('x')),
          {},
          out.indices(),
          out.spatial_shape(),
          out.batch_size()};
}

BenchSites halve(const BenchSites& sites) {
  const int ndim = sites.spatial_shape.size();
  return strided(sites, KernelSpec::make(ConvKind::kRegular, Dims::filled(ndim, 3), Dims::filled(ndim, 2),
                                         Dims::filled(ndim, 1)));
}

}  // namespace aerogel::cli
