#include "grid_choice.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "aerogel/error.h"

#include "text.h"

namespace aerogel::cli {

namespace {

using Vec3 = std::array<double, 3>;

constexpr std::int64_t kCellsOfAnObject = 200;  // along its longest side, for a network of any resolution
/// Fewest cells along an axis of a cloud's own box: strided networks need this many to have an output at all
/// (the lidar backbones halve z four times from 41). Empty cells cost nothing.
constexpr std::int64_t kLeastCells = 40;
constexpr double kHardlyAny = 0.1;

/// The voxelizer works in f32.
void require_f32(const char* option, const std::string& text, double value) {
  if (!std::isfinite(static_cast<float>(value)))
    throw InvalidArgument(fmt::format("{} {}: {} is too large for f32", option, text, value));
}

OwnGrid parse_range(const std::string& text, const Vec3& voxel) {
  const std::vector<double> r = parse_numbers("--range", text, 6);
  for (const double bound : r) require_f32("--range", text, bound);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(r[axis] < r[axis + 3])) {
      throw InvalidArgument(
          fmt::format("--range {}: {} from {} to {} is empty", text, "xyz"[axis], r[axis], r[axis + 3]));
    }
  }
  return {{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, voxel};
}

/// The bounding box with half a voxel around it, widened on both sides to kLeastCells.
OwnGrid bounding_grid(const Cloud& cloud, const Vec3& voxel) {
  OwnGrid own{{}, {}, voxel};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double lo = cloud.lo[axis] - voxel[axis] / 2;
    const double exact = std::floor((cloud.hi[axis] - lo) / voxel[axis]) + 1;
    if (exact > 2147483647.0) {
      throw InvalidArgument(fmt::format("voxels of {} m make {:.4g} cells along {}, over 2^31 - 1",
                                        voxel[axis], exact, "xyz"[axis]));
    }
    const auto cells = static_cast<std::int64_t>(exact);
    const std::int64_t extra = std::max<std::int64_t>(kLeastCells - cells, 0);
    const std::int64_t below = extra / 2;
    own.lo[axis] = lo - static_cast<double>(below) * voxel[axis];
    own.hi[axis] = own.lo[axis] + static_cast<double>(cells + extra) * voxel[axis];
  }
  return own;
}

Vec3 object_voxel(const Cloud& cloud, std::int64_t cells) {
  const double side = cloud.longest_side();
  const double size = side > 0 ? side / static_cast<double>(cells) : 1;
  return {size, size, size};
}

Vec3 to_vec(const float* values) {  // 0.1F reads 0.1, not 0.100000001
  Vec3 out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = std::stod(fmt::format("{}", values[i]));
  return out;
}

double share_inside(const Cloud& cloud, const float* range) {
  const float* p = cloud.points.data<float>();
  const std::int64_t width = cloud.points.size(1);
  std::int64_t inside = 0;
  for (std::int64_t i = 0; i < cloud.size(); ++i, p += width) {
    inside += p[0] >= range[0] && p[0] < range[3] && p[1] >= range[1] && p[1] < range[4] &&
                      p[2] >= range[2] && p[2] < range[5]
                  ? 1
                  : 0;
  }
  return cloud.size() > 0 ? static_cast<double>(inside) / static_cast<double>(cloud.size()) : 1;
}

GridChoice finish(const OwnGrid& own, const std::string& rule) {
  GridChoice choice;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    choice.grid.lo[axis] = static_cast<float>(own.lo[axis]);
    choice.grid.hi[axis] = static_cast<float>(own.hi[axis]);
    choice.grid.size[axis] = static_cast<float>(own.voxel[axis]);
  }
  const Dims shape = choice.grid.spatial_shape();
  choice.rule = fmt::format(
      "voxels of {} x {} x {} m, box {} … {}, {} … {}, {} … {} m, grid {} x {} x {} (x, y, z): {}",
      metres_text(own.voxel[0]), metres_text(own.voxel[1]), metres_text(own.voxel[2]), metres_text(own.lo[0]),
      metres_text(own.hi[0]), metres_text(own.lo[1]), metres_text(own.hi[1]), metres_text(own.lo[2]),
      metres_text(own.hi[2]), shape[2], shape[1], shape[0], rule);
  return choice;
}

}  // namespace

std::array<double, 3> parse_voxel(const std::string& text) {
  const std::size_t count = split_commas(text).size() == 1 ? 1 : 3;
  const std::vector<double> v = parse_numbers("--voxel", text, count);
  const Vec3 voxel = count == 1 ? Vec3{v[0], v[0], v[0]} : Vec3{v[0], v[1], v[2]};
  for (const double size : voxel) {
    if (!(static_cast<float>(size) > 0))
      throw InvalidArgument(fmt::format("--voxel {}: a voxel's size must be above 0", text));
    require_f32("--voxel", text, size);
  }
  return voxel;
}

GridChoice choose_grid(const Cloud& cloud, const nn::NetworkInfo* network, const GridRequest& request) {
  const bool has_box = network != nullptr && network->has_default_box;
  Vec3 default_voxel{};
  OwnGrid network_grid{};
  if (has_box) {
    default_voxel = to_vec(network->voxel);
    network_grid = {to_vec(network->range), to_vec(network->range + 3), default_voxel};
  }
  const double side = cloud.longest_side();
  const std::int64_t cells =
      network != nullptr && network->resolution > 0 ? network->resolution : kCellsOfAnObject;
  const bool object_sized =
      has_box &&
      side < static_cast<double>(cells) * *std::max_element(default_voxel.begin(), default_voxel.end());
  const double inside = has_box ? share_inside(cloud, network->range) : 0;
  const bool fits = has_box && !object_sized && inside >= kHardlyAny && !cloud.own_grid;

  if (!request.voxel.empty() || !request.range.empty()) {
    const Vec3 voxel = !request.voxel.empty() ? parse_voxel(request.voxel)
                       : fits                 ? default_voxel
                       : cloud.own_grid       ? cloud.own_grid->voxel
                                              : object_voxel(cloud, cells);
    if (!request.range.empty()) {
      return finish(parse_range(request.range, voxel),
                    request.voxel.empty() ? "--range as given" : "as given");
    }
    if (fits) return finish({network_grid.lo, network_grid.hi, voxel}, "--voxel as given, the network's box");
    return finish(bounding_grid(cloud, voxel), "--voxel as given, the cloud's own box");
  }
  if (cloud.own_grid)
    return finish(*cloud.own_grid, cloud.surface.empty() ? "the synthetic set's own cells"
                                                         : "the cells of the mesh's surface");
  if (fits)
    return finish(network_grid,
                  fmt::format("the network's own; {:.1f} % of the points fall into it", inside * 100));
  const std::string why =
      !has_box ? fmt::format("the cloud's own box, its longest side / {}", cells)
      : object_sized
          ? fmt::format("object-sized (longest side {} m): the cloud's own box, its longest side / {}",
                        metres_text(side), cells)
          : fmt::format(
                "only {:.1f} % of the points fall into the network's box: the cloud's own box, its "
                "longest side / {}",
                inside * 100, cells);
  return finish(bounding_grid(cloud, object_voxel(cloud, cells)), why);
}

}  // namespace aerogel::cli
