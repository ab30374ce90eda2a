// Measures cases and prints each result as it comes: a JSON line, or a row of a table.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench_measure.h"

namespace aerogel::cli {

/// Which row of a layer table a result stands for.
struct BenchLabel {
  std::string model;
  std::string layer;
  std::int64_t count = 1;
  std::int64_t typical_sites = 0;
};

class BenchReport {
 public:
  explicit BenchReport(bool as_json) : as_json_(as_json) {}

  /// Measures and prints. A case of the same sites, window, channels and threads as an earlier one is
  /// measured once.
  BenchResult add(const BenchCase& bench, const BenchLabel& label = {});
  void say(const std::string& line) const;  // to people: stderr when stdout is JSON

 private:
  void print(const BenchResult& result);

  bool as_json_;
  bool titled_ = false;
  std::map<int, cpu::PeakProbe> probes_;
  FeaturePool pool_;
  std::map<std::string, BenchResult> results_;
};

}  // namespace aerogel::cli
