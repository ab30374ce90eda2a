#include "geometry.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "aerogel/error.h"

namespace aerogel::cli {

namespace {

using Vec3 = std::array<double, 3>;

constexpr int kBeams = 64;
constexpr int kAzimuths = 2048;
constexpr int kBoxes = 60;
constexpr double kSensorHeight = 1.73;                 // metres
constexpr std::uint64_t kNoiseBegin = 1ULL << 20;      // where the counters of the points' noise start
constexpr std::uint64_t kIntensityBegin = 1ULL << 24;  // … and those that only intensity uses
constexpr std::uint64_t kReturnBegin = 1ULL << 25;     // … and those that thin a sweep

/// A building or a car, in its own axes: the sensor and the ray directions are turned into them.
struct Block {
  Vec3 half;
  Vec3 origin;  // of the sensor
  double cos_yaw;
  double sin_yaw;
  Label label;
};

std::vector<Block> scene(std::uint64_t seed) {
  std::vector<Block> boxes;
  for (int b = 0; b < kBoxes; ++b) {
    double u[7];  // centre x, centre y, kind, length, width, height, yaw
    for (int i = 0; i < 7; ++i) u[i] = unit(seed, static_cast<std::uint64_t>(i + 7 * b));
    const double cx = -50 + 100 * u[0];
    const double cy = -50 + 100 * u[1];
    const bool building = u[2] < 0.3;
    if (std::hypot(cx, cy) < (building ? 14 : 4)) continue;  // keeps the sensor outside
    const Vec3 size = building ? Vec3{6 + 14 * u[3], 0.5 + 7.5 * u[4], 3 + 6 * u[5]} : Vec3{4.2, 1.8, 1.6};
    const double yaw = std::numbers::pi * u[6];
    const double c = std::cos(yaw);
    const double s = std::sin(yaw);
    const double ox = 0 - cx;
    const double oy = 0 - cy;
    boxes.push_back({{size[0] / 2, size[1] / 2, size[2] / 2},
                     {c * ox + s * oy, -s * ox + c * oy, kSensorHeight - size[2] / 2},
                     c,
                     s,
                     building ? Label::kBuilding : Label::kCar});
  }
  return boxes;
}

struct Hit {
  double t = std::numeric_limits<double>::infinity();
  Label label = Label::kGround;
};

/// The slab test: the ray is inside the box between the last entry and the first exit.
void intersect(const Block& box, const Vec3& direction, Hit& hit) {
  const Vec3 d = {direction[0] * box.cos_yaw + direction[1] * box.sin_yaw,
                  -direction[0] * box.sin_yaw + direction[1] * box.cos_yaw, direction[2]};
  double enter = -std::numeric_limits<double>::infinity();
  double leave = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 3; ++i) {
    const double t1 = (-box.half[i] - box.origin[i]) / d[i];
    const double t2 = (box.half[i] - box.origin[i]) / d[i];
    if (std::isnan(t1) || std::isnan(t2)) continue;
    enter = std::max(enter, std::min(t1, t2));
    leave = std::min(leave, std::max(t1, t2));
  }
  if (enter < leave && enter > 0 && enter < hit.t) hit = {enter, box.label};
}

/// Paint and glass return more than asphalt; far returns fade.
float intensity(std::uint64_t seed, std::uint64_t ray, const Hit& hit) {
  constexpr double kAlbedo[3] = {0.18, 0.42, 0.65};
  const double speckle = 0.85 + 0.3 * unit(seed, kIntensityBegin + ray);
  return static_cast<float>(
      std::min(1.0, kAlbedo[static_cast<int>(hit.label)] * speckle / (1 + hit.t * hit.t / 3600)));
}

struct LabelledKey {
  std::int64_t key;  // (z · H + y) · W + x
  Label label;
};

void cast_sweep(std::uint64_t seed, const SweepGrid& grid, const std::array<std::int64_t, 3>& shape,
                Geometry& out, std::vector<LabelledKey>& keys) {
  const std::vector<Block> boxes = scene(seed);
  constexpr double kRadians = std::numbers::pi / 180.0;
  constexpr double kElevationStep = (2.0 - -24.8) / (kBeams - 1);
  constexpr double kAzimuthStep = 2 * std::numbers::pi / kAzimuths;
  const double noise_scale = 0.01 * std::sqrt(3.0);  // four uniforms a coordinate: standard deviation 0.01 m
  for (int beam = 0; beam < kBeams; ++beam) {
    const double elevation = (beam == kBeams - 1 ? 2.0 : beam * kElevationStep + -24.8) * kRadians;
    for (int a = 0; a < kAzimuths; ++a) {
      const double azimuth = a * kAzimuthStep + -std::numbers::pi;
      const Vec3 d = {std::cos(elevation) * std::cos(azimuth), std::cos(elevation) * std::sin(azimuth),
                      std::sin(elevation)};
      Hit hit;
      if (d[2] < -1e-4) hit.t = -kSensorHeight / std::min(d[2], -1e-9);
      for (const Block& box : boxes) intersect(box, d, hit);
      if (!(hit.t < 80)) continue;
      const std::uint64_t ray = static_cast<std::uint64_t>(beam) * kAzimuths + static_cast<std::uint64_t>(a);
      if (grid.keep < 1 && unit(seed, kReturnBegin + ray) >= grid.keep) continue;
      Vec3 p = {0 + d[0] * hit.t, 0 + d[1] * hit.t, kSensorHeight + d[2] * hit.t};
      bool inside = true;
      for (std::size_t i = 0; i < 3; ++i) {
        double sum = 0;
        for (std::uint64_t j = 0; j < 4; ++j) sum += unit(seed, kNoiseBegin + (ray * 3 + i) * 4 + j);
        p[i] += (sum - 2) * noise_scale;
        inside = inside && p[i] >= grid.lo[i] && p[i] < grid.hi[i];
      }
      if (!inside) continue;
      for (const double value : p) out.points.push_back(static_cast<float>(value));
      out.points.push_back(intensity(seed, ray, hit));
      out.point_labels.push_back(static_cast<std::int32_t>(hit.label));
      std::int64_t cell[3];
      for (std::size_t i = 0; i < 3; ++i) {
        cell[i] = static_cast<std::int64_t>(std::floor((p[i] - grid.lo[i]) / grid.voxel[i]));
      }
      keys.push_back({(cell[2] * shape[1] + cell[1]) * shape[2] + cell[0], hit.label});
    }
  }
}

/// Sorted distinct sites, each with the label of most of its points (the rarer kind, cars, wins a draw).
void keep_distinct(std::vector<LabelledKey>& keys, Geometry& out) {
  std::sort(keys.begin(), keys.end(),
            [](const LabelledKey& a, const LabelledKey& b) { return a.key < b.key; });
  const std::int64_t height = out.spatial_shape[1];
  const std::int64_t width = out.spatial_shape[2];
  for (std::size_t begin = 0; begin < keys.size();) {
    int votes[3] = {0, 0, 0};
    std::size_t end = begin;
    for (; end < keys.size() && keys[end].key == keys[begin].key; ++end)
      ++votes[static_cast<int>(keys[end].label)];
    std::int32_t label = 2;
    for (std::int32_t other = 1; other >= 0; --other) {
      if (votes[other] > votes[label]) label = other;
    }
    const std::int64_t key = keys[begin].key;
    out.coords.insert(out.coords.end(), {0, static_cast<std::int32_t>(key / (height * width)),
                                         static_cast<std::int32_t>(key / width % height),
                                         static_cast<std::int32_t>(key % width)});
    out.site_labels.push_back(label);
    begin = end;
  }
}

template <class T>
T parse_number(std::string_view text, std::string_view spec) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InvalidArgument(
        fmt::format("geometry \"{}\": \"{}\" is not a number; expected lidar:SEED, shell:R or uniform:R:FILL",
                    spec, text));
  }
  return value;
}

std::int64_t parse_resolution(std::string_view text, std::string_view spec) {
  const auto resolution = parse_number<std::int64_t>(text, spec);
  if (resolution < 1 || resolution > 2048) {
    throw InvalidArgument(
        fmt::format("geometry \"{}\": the resolution must lie in 1 … 2048, got {}", spec, resolution));
  }
  return resolution;
}

}  // namespace

double unit(std::uint64_t seed, std::uint64_t index) noexcept {
  std::uint64_t z = (seed << 32) + index;
  z = (z + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

Geometry lidar(std::uint64_t seed, const SweepGrid& grid) {
  Geometry out;
  out.name = fmt::format("lidar:{}", seed);
  out.lo = grid.lo;
  out.voxel = grid.voxel;
  for (std::size_t i = 0; i < 3; ++i) {
    out.spatial_shape[2 - i] =
        static_cast<std::int64_t>(std::ceil((grid.hi[i] - grid.lo[i]) / grid.voxel[i] - 1e-6));
  }
  std::vector<LabelledKey> keys;
  for (int i = 0; i < grid.sweeps; ++i) {
    cast_sweep(seed + static_cast<std::uint64_t>(i), grid, out.spatial_shape, out, keys);
  }
  keep_distinct(keys, out);
  return out;
}

Geometry shell(std::int64_t resolution) {
  // f32 throughout and in this order of operations, as the published sets were made.
  const auto centre = static_cast<float>(static_cast<double>(resolution) / 2);
  const auto radius = static_cast<float>(0.42 * static_cast<double>(resolution));
  const auto size = static_cast<std::size_t>(resolution);
  std::vector<float> axis(size);
  for (std::size_t i = 0; i < size; ++i) axis[i] = static_cast<float>(i) + 0.5F - centre;
  std::vector<float> around(size * size);  // 0.12 · sin(5 · longitude) of each (y, x)
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      around[y * size + x] = 0.12F * std::sin(5.0F * std::atan2(axis[y], axis[x]));
    }
  }
  Geometry out;
  out.name = fmt::format("shell:{}", resolution);
  out.spatial_shape = {resolution, resolution, resolution};
  for (std::size_t z = 0; z < size; ++z) {
    for (std::size_t y = 0; y < size; ++y) {
      for (std::size_t x = 0; x < size; ++x) {
        const float d = std::sqrt(axis[z] * axis[z] + axis[y] * axis[y] + axis[x] * axis[x]) + 1e-6F;
        const float bump = around[y * size + x];
        if (std::abs(d - radius) > radius * (std::abs(bump) + 1e-3F) + 0.7F)
          continue;  // no latitude reaches it
        const float polar = std::acos(std::clamp(axis[z] / d, -1.0F, 1.0F));
        const float surface = radius * (1.0F + bump * std::sin(4.0F * polar));
        if (!(std::abs(d - surface) < 0.6F)) continue;
        out.coords.insert(out.coords.end(), {0, static_cast<std::int32_t>(z), static_cast<std::int32_t>(y),
                                             static_cast<std::int32_t>(x)});
      }
    }
  }
  return out;
}

Geometry uniform(std::int64_t resolution, double fill, std::uint64_t seed) {
  Geometry out;
  out.name = fmt::format("uniform:{}:{}", resolution, fill);
  out.spatial_shape = {resolution, resolution, resolution};
  std::uint64_t index = 0;
  for (std::int64_t z = 0; z < resolution; ++z) {
    for (std::int64_t y = 0; y < resolution; ++y) {
      for (std::int64_t x = 0; x < resolution; ++x, ++index) {
        if (!(unit(seed, index) < fill)) continue;
        out.coords.insert(out.coords.end(), {0, static_cast<std::int32_t>(z), static_cast<std::int32_t>(y),
                                             static_cast<std::int32_t>(x)});
      }
    }
  }
  return out;
}

bool is_geometry_spec(std::string_view spec) noexcept {
  const std::string_view kind = spec.substr(0, spec.find(':'));
  return kind.size() < spec.size() && (kind == "lidar" || kind == "shell" || kind == "uniform");
}

Geometry make_geometry(std::string_view spec) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= spec.size();) {
    const std::size_t end = std::min(spec.find(':', begin), spec.size());
    parts.push_back(spec.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts[0] == "lidar" && parts.size() == 2) {
    const auto seed = parse_number<std::uint64_t>(parts[1], spec);
    if (seed >> 32 != 0)
      throw InvalidArgument(fmt::format("geometry \"{}\": the seed must fit 32 bits", spec));
    return lidar(seed);
  }
  if (parts[0] == "shell" && parts.size() == 2) return shell(parse_resolution(parts[1], spec));
  if (parts[0] == "uniform" && (parts.size() == 3 || parts.size() == 4)) {
    const std::int64_t resolution = parse_resolution(parts[1], spec);
    const auto fill = parse_number<double>(parts[2], spec);
    if (!(fill >= 0 && fill <= 1)) {
      throw InvalidArgument(
          fmt::format("geometry \"{}\": the fill must lie in 0 … 1, got {}", spec, parts[2]));
    }
    return uniform(resolution, fill, parts.size() == 4 ? parse_number<std::uint32_t>(parts[3], spec) : 0);
  }
  throw InvalidArgument(
      fmt::format("geometry \"{}\" is not known; expected lidar:SEED, shell:R or uniform:R:FILL", spec));
}

}  // namespace aerogel::cli
