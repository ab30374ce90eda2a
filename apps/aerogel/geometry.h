// Synthetic coordinate sets for examples and benchmarks: a LiDAR sweep, a bumpy shell, random fill.
// Randomness is counter-based, so any language makes the same sets (up to a site in 10,000 where a math
// library rounds a point across a voxel face).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aerogel::cli {

/// A uniform double in [0, 1): SplitMix64(seed · 2^32 + index), top 53 bits.
double unit(std::uint64_t seed, std::uint64_t index) noexcept;

/// What a LiDAR ray or the site it fell into shows.
enum class Label : std::int32_t { kGround = 0, kBuilding = 1, kCar = 2 };

/// Sites, and for a sweep the points they came from.
struct Geometry {
  std::string name;                             // "lidar:0"
  std::vector<std::int32_t> coords;             // [N, 4] batch, z, y, x; sorted
  std::array<std::int64_t, 3> spatial_shape{};  // D, H, W
  std::vector<std::int32_t> site_labels;        // [N]; a sweep only: the label of most of its points
  std::vector<float> points;                    // [P, 4] x, y, z in metres, intensity; a sweep only
  std::vector<std::int32_t> point_labels;       // [P]
  std::array<double, 3> lo{};                   // x, y, z of the grid's corner, metres
  std::array<double, 3> voxel{1, 1, 1};         // x, y, z, metres

  std::int64_t sites() const { return static_cast<std::int64_t>(coords.size() / 4); }
};

/// Where a sweep is voxelized; the default is the one of the published site counts.
struct SweepGrid {
  std::array<double, 3> voxel{0.1, 0.1, 0.15};   // x, y, z, metres
  std::array<double, 3> lo{-70.4, -70.4, -3.0};  // x, y, z
  std::array<double, 3> hi{70.4, 70.4, 4.0};     // x, y, z
  int sweeps = 1;                                // seeds seed, seed + 1, … seen through one grid
  double keep = 1;                               // share of the rays that return
};

/// A spinning sweep of 64 × 2,048 rays cast against a ground plane and 60 boxes (buildings and cars).
/// lidar(0): 66,035 sites with 8.13 neighbours each (of 27); lidar(1): 62,268.
Geometry lidar(std::uint64_t seed, const SweepGrid& grid = {});

/// A closed bumpy sphere, a voxel thick. shell(128): 43,704 sites; 256: 174,668; 512: 700,608.
Geometry shell(std::int64_t resolution);

/// Each cell is a site with probability `fill`. uniform(128, 0.1): 209,190 sites.
Geometry uniform(std::int64_t resolution, double fill, std::uint64_t seed = 0);

/// "lidar:SEED", "shell:R" or "uniform:R:FILL[:SEED]"; InvalidArgument naming the forms otherwise.
Geometry make_geometry(std::string_view spec);

/// Whether `spec` starts like one of the forms of make_geometry (it may still be malformed).
bool is_geometry_spec(std::string_view spec) noexcept;

}  // namespace aerogel::cli
