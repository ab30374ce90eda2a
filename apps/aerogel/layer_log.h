// What every op of a run did, collected by its observer, and the table made of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "aerogel/plan.h"

#include "layer_check.h"

namespace aerogel::cli {

struct LayerRow {
  std::string label;
  std::string op;
  std::string problem;
  std::string kernel;
  std::int64_t sites_in = 0;
  std::int64_t sites_out = 0;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  std::int64_t pairs = 0;
  std::int64_t chunks = 1;  // runs of rows that the layer went by; everything else is their sum
  std::int64_t map_bytes = 0;
  std::int64_t workspace_bytes = 0;
  double map_ms = 0;
  double run_ms = 0;
  double flop = 0;
  bool convolution = false;
  bool checked = false;
  LayerVerdict verdict;
};

struct LayerLogOptions {
  std::optional<CheckSample> check;
  int threads = 0;
  std::filesystem::path dump;  // folder for each layer's output; empty = none
  bool progress = false;       // a line on stderr that is overwritten
};

class LayerLog {
 public:
  explicit LayerLog(LayerLogOptions options = {}) : options_(std::move(options)) {}

  /// For ExecOptions::observer. Throws Interrupted between layers after Ctrl-C.
  void observe(const OpRecord& record);
  /// Removes the progress line.
  void end_progress();

  const std::vector<LayerRow>& rows() const { return rows_; }
  /// Takes the map times and sizes of a dry run over the same network, which built the maps.
  void take_maps(const LayerLog& dry_run);
  bool passed() const;

  std::string table(double peak_gflops) const;
  nlohmann::json json(double peak_gflops) const;

 private:
  CheckSample sample_of(const OpRecord& record) const;
  /// The row of the chunk before, or null.
  LayerRow* row_before(const OpRecord& record);

  LayerLogOptions options_;
  std::vector<LayerRow> rows_;
  std::size_t observed_ = 0;  // ops, of which a row may hold several
};

}  // namespace aerogel::cli
