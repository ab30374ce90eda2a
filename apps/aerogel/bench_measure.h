// One timed convolution: its inputs, its samples, and what they say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "aerogel/conv.h"
#include "aerogel/device.h"

#include "backend/cpu/peak.h"
#include "bench_sites.h"

namespace aerogel::cli {

struct BenchCase {
  const BenchSites* sites = nullptr;
  KernelSpec spec;  // inverse: of the regular layer of that geometry
  std::int64_t c_in = 64;
  std::int64_t c_out = 64;
  ExecOptions exec;
  std::uint64_t seed = 0;
  double max_seconds = 10;  // for all of it: map, first layer and samples
};

/// Milliseconds of the samples during which the machine was ours; of the best one where there are none.
struct Timing {
  double median_ms = 0;
  double p10_ms = 0;
  double p90_ms = 0;
  std::int64_t kept = 0;
  std::int64_t tried = 0;
};

struct BenchResult {
  std::string model;  // of a layer table; else empty
  std::string layer;
  std::int64_t count = 1;          // layers of this kind in the model
  std::int64_t typical_sites = 0;  // what the table says of its output sites
  std::string problem;             // problem string, with the geometry where --problem can make it again
  std::string geometry;
  std::string window;  // "subm 3x3x3"
  std::string kernel;
  std::string device;
  int threads = 0;
  std::int64_t sites = 0;
  std::int64_t sites_out = 0;
  std::int64_t pairs = 0;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  Timing map;
  Timing first_layer;
  Timing conv;
  double gflops = 0;
  double peak_gflops = 0;
  double rel_l2 = 0;
  std::string date;

  double share_of_peak() const { return peak_gflops > 0 ? gflops / peak_gflops : 0; }
  std::string json_line() const;
};

/// Random signed features, made once and seen through many views.
class FeaturePool {
 public:
  /// Views [rows, channels] that do not overlap and together exceed the last-level cache, within 1 GiB.
  std::vector<Tensor> views(std::int64_t rows, std::int64_t channels, std::uint64_t seed);

 private:
  Tensor values_;
  std::uint64_t seed_ = 0;
};

/// Lets freed memory stay with the process, so that timed calls do not wait for the system to clear the pages
/// of each output past 32 MiB. For benchmarks only: it changes the whole process.
void keep_freed_memory();

/// Times the public verb with its map cached and its weights packed, output allocation included; building the
/// coordinate set and the map, sorting included, on fresh sets; and both together on fresh sets.
/// Stops at max_seconds, which the last sample may pass; where the first run alone takes them, its own times
/// stand and no sample was tried. rel_l2 compares 256 output rows with the reference in double.
///   throws Interrupted after Ctrl-C
BenchResult measure(const BenchCase& bench, cpu::PeakProbe& probe, FeaturePool& pool);

}  // namespace aerogel::cli
