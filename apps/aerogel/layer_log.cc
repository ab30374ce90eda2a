#include "layer_log.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aerogel/io.h"

#include "cli.h"
#include "text.h"

namespace aerogel::cli {

namespace {

double gflops(const LayerRow& row) { return row.run_ms > 0 ? row.flop / row.run_ms * 1e-6 : 0; }

/// "037_conv3.1.conv2.npy": in the order of the run, by the layer's name.
std::string dump_name(std::size_t number, const OpRecord& record) {
  std::string name = record.label.empty() ? record.op : record.label;
  for (char& c : name) {
    if (c == '/' || c == ':') c = '_';
  }
  return fmt::format("{:03}_{}.npy", number, name);
}

/// "4,096 of 10,000", or "300" where all were compared.
std::string rows_text(const LayerRow& row) {
  const std::string checked = count_text(row.verdict.rows);
  return row.verdict.rows == row.sites_out ? checked : checked + " of " + count_text(row.sites_out);
}

/// The next run of rows of one layer.
void append(LayerRow& row, const LayerRow& next) {
  ++row.chunks;
  row.sites_in += next.sites_in;
  row.sites_out += next.sites_out;
  row.pairs += next.pairs;
  row.map_bytes += next.map_bytes;
  row.workspace_bytes = std::max(row.workspace_bytes, next.workspace_bytes);
  row.map_ms += next.map_ms;
  row.run_ms += next.run_ms;
  row.flop += next.flop;
  row.verdict.join(next.verdict);
}

}  // namespace

void LayerLog::observe(const OpRecord& record) {
  throw_if_interrupted();
  LayerRow row;
  row.label = record.label.empty() ? record.op : record.label;
  row.op = record.op;
  row.problem = record.problem;
  row.kernel = record.kernel;
  row.sites_in = record.sites_in;
  row.sites_out = record.sites_out;
  row.c_in = record.c_in;
  row.c_out = record.c_out;
  row.pairs = record.pairs;
  row.map_bytes = record.map_bytes;
  row.workspace_bytes = record.workspace_bytes;
  row.map_ms = record.map_ms;
  row.run_ms = record.run_ms;
  row.flop = record.flop;
  row.convolution = record.conv != nullptr;
  if (options_.progress) {
    fmt::print(stderr, "\r\033[K{}. {}: {} sites", observed_ + 1, row.label, count_text(row.sites_out));
    std::fflush(stderr);
  }
  if (options_.check && record.conv != nullptr) {
    row.verdict = check_layer(*record.conv, sample_of(record), options_.threads);
    row.checked = true;
  }
  if (!options_.dump.empty() && record.out.defined()) {
    io::write_npy(options_.dump / dump_name(observed_, record), record.out);
  }
  ++observed_;
  if (LayerRow* before = row_before(record))
    append(*before, row);
  else
    rows_.push_back(std::move(row));
}

/// Later chunks of a layer take a sixteenth of the first one's sample: a layer of 17 chunks costs twice what
/// one chunk does, not 17 times.
CheckSample LayerLog::sample_of(const OpRecord& record) const {
  CheckSample sample = *options_.check;
  if (record.chunk > 0 && sample.rows != kEverything) {
    sample.rows /= 16;
    sample.terms /= 16;
  }
  return sample;
}

LayerRow* LayerLog::row_before(const OpRecord& record) {
  if (record.chunk == 0) return nullptr;
  const std::string label = record.label.empty() ? record.op : record.label;
  const auto found = std::find_if(rows_.rbegin(), rows_.rend(), [&](const LayerRow& row) {
    return row.label == label && row.op == record.op && row.chunks == record.chunk;
  });
  return found == rows_.rend() ? nullptr : &*found;
}

void LayerLog::end_progress() {
  if (!options_.progress) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void LayerLog::take_maps(const LayerLog& dry_run) {
  for (std::size_t i = 0; i < rows_.size() && i < dry_run.rows_.size(); ++i) {
    rows_[i].map_ms = dry_run.rows_[i].map_ms;
    rows_[i].map_bytes = dry_run.rows_[i].map_bytes;
  }
}

bool LayerLog::passed() const {
  for (const LayerRow& row : rows_) {
    if (row.checked && !row.verdict.passed) return false;
  }
  return true;
}

std::string LayerLog::table(double peak_gflops) const {
  using Align = TextTable::Align;
  TextTable table;
  table.add_column("layer", Align::kLeft);
  table.add_column("sites in");
  table.add_column("out");
  table.add_column("channels");
  table.add_column("pairs");
  table.add_column("nbrs");
  table.add_column("kernel", Align::kLeft);
  table.add_column("map ms");
  table.add_column("run ms");
  table.add_column("GFLOP/s");
  table.add_column("of peak");
  bool checked = false;
  for (const LayerRow& row : rows_) checked = checked || row.checked;
  if (checked) {
    table.add_column("err/tol");
    table.add_column("rel L2");
    table.add_column("check", Align::kLeft);
  }
  LayerRow total;
  for (const LayerRow& row : rows_) {
    const bool neighbours = row.pairs > 0 && row.sites_out > 0;
    std::vector<std::string> cells = {
        row.label,
        count_text(row.sites_in),
        count_text(row.sites_out),
        row.c_in == row.c_out ? fmt::format("{}", row.c_out) : fmt::format("{}>{}", row.c_in, row.c_out),
        row.pairs > 0 ? count_text(row.pairs) : "-",
        neighbours
            ? fmt::format("{:.2f}", static_cast<double>(row.pairs) / static_cast<double>(row.sites_out))
            : "-",
        row.kernel,
        row.map_ms > 0 ? fmt::format("{:.2f}", row.map_ms) : "-",
        fmt::format("{:.2f}", row.run_ms),
        row.flop > 0 ? fmt::format("{:.1f}", gflops(row)) : "-",
        row.flop > 0 && peak_gflops > 0 ? fmt::format("{:.1f} %", 100 * gflops(row) / peak_gflops) : "-"};
    if (checked) {
      cells.push_back(row.checked ? fmt::format("{:.3f}", row.verdict.worst) : "-");
      cells.push_back(row.checked ? fmt::format("{:.1e}", row.verdict.relative_l2()) : "-");
      cells.push_back(row.checked ? (row.verdict.passed ? "ok, " : "FAILED, ") + rows_text(row) + " rows"
                                  : "-");
    }
    table.add_row(std::move(cells));
    total.pairs += row.pairs;
    total.map_ms += row.map_ms;
    total.run_ms += row.run_ms;
    total.flop += row.flop;
  }
  table.add_row({"total", "", "", "", "", "", "", fmt::format("{:.2f}", total.map_ms),
                 fmt::format("{:.2f}", total.run_ms), fmt::format("{:.1f}", gflops(total)),
                 peak_gflops > 0 ? fmt::format("{:.1f} %", 100 * gflops(total) / peak_gflops) : "-"});
  return table.str();
}

nlohmann::json LayerLog::json(double peak_gflops) const {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerRow& row : rows_) {
    nlohmann::json layer = {{"name", row.label},
                            {"op", row.op},
                            {"problem", row.problem},
                            {"kernel", row.kernel},
                            {"sites_in", row.sites_in},
                            {"sites_out", row.sites_out},
                            {"channels_in", row.c_in},
                            {"channels_out", row.c_out},
                            {"pairs", row.pairs},
                            {"map_ms", row.map_ms},
                            {"map_bytes", row.map_bytes},
                            {"workspace_bytes", row.workspace_bytes},
                            {"run_ms", row.run_ms},
                            {"flop", row.flop},
                            {"chunks", row.chunks},
                            {"gflops", gflops(row)},
                            {"share_of_peak", peak_gflops > 0 ? gflops(row) / peak_gflops : 0}};
    if (row.sites_out > 0 && row.pairs > 0) {
      layer["neighbours_per_site"] = static_cast<double>(row.pairs) / static_cast<double>(row.sites_out);
    }
    if (row.checked) {
      layer["check"] = {{"passed", row.verdict.passed},
                        {"rows", row.verdict.rows},
                        {"error_over_tolerance", row.verdict.worst},
                        {"relative_l2", row.verdict.relative_l2()}};
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace aerogel::cli
