// One timed convolution: its inputs, its samples, and what they say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "aerogel/conv.h"
#include "aerogel/device.h"

#include "backend/cpu/peak.h"

namespace aerogel::cli {

/// The sites of a benchmark, named; what `--geometry` or a row of a layer table asks for.
struct BenchSites {
  std::string name;  // "lidar:0"
  Tensor indices;    // [N, 4] i32
  Dims spatial_shape;
  std::int64_t batch_size = 1;
};

struct BenchCase {
  const BenchSites* sites = nullptr;
  KernelSpec spec;  // submanifold, regular, or inverse (of the regular layer of that geometry)
  std::int64_t c_in = 64;
  std::int64_t c_out = 64;
  ExecOptions exec;
  std::uint64_t seed = 0;
  double max_seconds = 10;
};

struct BenchResult {
  std::string problem;
  std::string geometry;
  std::string kernel;
  std::string device;
  int threads = 0;
  std::int64_t sites = 0;
  std::int64_t pairs = 0;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  double map_ms = 0;
  double median_ms = 0;
  double p10_ms = 0;
  double p90_ms = 0;
  double gflops = 0;
  double peak_gflops = 0;
  double rel_l2 = 0;
  std::int64_t samples_kept = 0;
  std::int64_t samples_tried = 0;

  double share_of_peak() const { return peak_gflops > 0 ? gflops / peak_gflops : 0; }
  nlohmann::json json() const;
};

/// Median milliseconds of building the coordinate set (sorting included) and the map, on fresh sets.
double time_map_ms(const BenchSites& sites, const KernelSpec& spec, const ExecOptions& exec);

/// Times the public verb with its map cached, packed weights and output allocation as a network has them.
///
/// Samples are those during which the machine was ours (PeakProbe::Sample::clean); with none, the best sample
/// stands and samples_kept is 0. Feature buffers rotate so that together they exceed the last-level cache, up
/// to 1 GiB. rel_l2 compares 256 output rows with the reference in double.
///   throws Interrupted after Ctrl-C
BenchResult measure(const BenchCase& bench, cpu::PeakProbe& probe, double map_ms);

}  // namespace aerogel::cli
