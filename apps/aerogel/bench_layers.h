// Benchmarks of whole networks from tables of their layers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench_measure.h"

namespace aerogel::cli {

/// Collects results: a JSON line each as they come, or one table at the end.
class BenchReport {
 public:
  explicit BenchReport(bool as_json) : as_json_(as_json) {}
  void add(const BenchCase& bench, double map_ms);
  void say(const std::string& line) const;  // to people: stderr when stdout is JSON
  void finish() const;

 private:
  bool as_json_;
  std::unique_ptr<cpu::PeakProbe> probe_;
  int probe_threads_ = 0;
  std::vector<BenchResult> results_;
};

struct LayerBench {
  std::string file;
  ExecOptions exec;
  double max_seconds = 10;
  std::int64_t max_sites = 400000;
  std::uint64_t seed = 0;
};

/// The fields of one line of a .csv: commas separate, double quotes hold commas, "" is a quote.
std::vector<std::string> split_csv(const std::string& line);

/// One line of a layer table, as far as it is needed.
struct LayerLine {
  std::string model;
  std::string layer;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  std::string kernel;      // "3", "3x1x1", "3x3|1x1 (2D)"
  std::string resolution;  // "64", "41x1440x1440", "L1"
  std::int64_t typical_sites = 0;
  std::string stride = "1";
  std::string padding;
  std::string type = "subm";
};

/// Times every row that this version can run, on sites like those of its resolution; names and counts the
/// rest.
void bench_layers(const LayerBench& layers, BenchReport& report);

}  // namespace aerogel::cli
