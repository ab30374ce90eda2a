// Benchmarks of whole networks from tables of their layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench_report.h"

namespace aerogel::cli {

struct LayerBench {
  std::string file;
  ExecOptions exec;
  double max_seconds = 10;
  std::int64_t max_sites = 400000;
  std::uint64_t seed = 0;
};

/// The fields of one line of a .csv: commas separate, double quotes hold commas, "" is a quote.
std::vector<std::string> split_csv(const std::string& line);

/// Times every row that this version can run, on sites like those of its resolution; names and counts the
/// rest.
///
/// A resolution that is one number is a shell of it. Others belong to a model: its first level is made of
/// LiDAR sweeps in its grid (shells for ScanNet), deeper ones by the model's own strided rows, else by 3-wide
/// layers of stride 2. Where that misses typical_voxels by more than a factor of 2, the level gets sweeps
/// (or a shell) of that size in its own grid.
void bench_layers(const LayerBench& layers, BenchReport& report);

}  // namespace aerogel::cli
