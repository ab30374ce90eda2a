// Sites of benchmarks: what --geometry names, and sets made to a size for rows of layer tables.
#pragma once

#include <cstdint>
#include <string>

#include "aerogel/kernel_map.h"

namespace aerogel::cli {

struct BenchSites {
  std::string name;  // "lidar:0"
  std::string key;   // for problem strings, where ':' separates: "lidar_0"; empty if no option makes the set
  Tensor indices;    // [N, 1+ndim] i32
  Dims spatial_shape;
  std::int64_t batch_size = 1;

  std::int64_t size() const { return indices.size(0); }
};

/// Sites in the geometry's own order.
///   spec     lidar:SEED, shell:R, uniform:R:FILL, or file:PATH. A .npz with `coords`, as synth writes it, or
///            a .npy [N, 4] of integers holds sites; other files hold points, which are voxelized
///   voxel    for points, metres: "0.1,0.1,0.15", "0.1", or empty: longest side / 200
///   shuffle  brings the rows into a random order that `seed` gives
BenchSites bench_sites(const std::string& spec, const std::string& voxel, bool shuffle, std::uint64_t seed);

/// What `spec` and `shuffle` were for a BenchSites::key.
std::string spec_of_key(const std::string& key, bool& shuffle);

/// LiDAR sweeps that fill a grid [D, H, W], or [H, W] seen from above, with about `target` sites: several
/// sweeps seen through one grid where one has fewer, a share of the rays where it has more. In a grid whose
/// first extent is its largest the axes stand for x, y, z.
BenchSites sweep_sites(const Dims& grid, std::int64_t target);

/// A shell of about `target` sites.
BenchSites shell_sites(std::int64_t target);

/// The sites that a 3-wide layer of stride 2 makes.
BenchSites halve(const BenchSites& sites);

/// The sites of a set that a layer of `spec` makes.
BenchSites strided(const BenchSites& sites, const KernelSpec& spec);

Coordinates coordinates_of(const BenchSites& sites);

}  // namespace aerogel::cli
