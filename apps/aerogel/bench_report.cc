#include "bench_report.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "core/parallel.h"
#include "text.h"

namespace aerogel::cli {

namespace {

/// Columns whose widths are known beforehand, so that a row can be printed before the next is measured.
struct Column {
  const char* title;
  int width;
  bool left = false;
};
constexpr Column kColumns[] = {
    {"window", 15, true}, {"channels", 9},    {"sites", 9},         {"pairs", 11},
    {"threads", 7},       {"map ms", 8},      {"first ms", 9},      {"median", 9},
    {"p10", 9},           {"p90", 9},         {"GFLOP/s", 7},       {"of peak", 7},
    {"rel L2", 7},        {"kept/tried", 10}, {"kernel", 36, true}, {"geometry", 0, true}};

template <class CellOf>
std::string line_of(const CellOf& cell_of) {
  std::string line;
  std::size_t index = 0;
  for (const Column& column : kColumns) {
    if (index > 0) line += "  ";
    const std::string cell = cell_of(index++);
    line +=
        column.left ? fmt::format("{:<{}}", cell, column.width) : fmt::format("{:>{}}", cell, column.width);
  }
  return line;
}

std::string row_of(const BenchResult& r) {
  const auto ms = [](double value) { return fmt::format("{:.3f}", value); };
  std::string where = r.geometry;
  if (!r.model.empty()) where = fmt::format("{} x {}: {} ({})", r.count, r.model, r.layer, r.geometry);
  const std::string cells[] = {r.window,
                               fmt::format("{}>{}", r.c_in, r.c_out),
                               count_text(r.sites),
                               count_text(r.pairs),
                               fmt::format("{}", r.threads),
                               fmt::format("{:.2f}", r.map.median_ms),
                               ms(r.first_layer.median_ms),
                               ms(r.conv.median_ms),
                               ms(r.conv.p10_ms),
                               ms(r.conv.p90_ms),
                               fmt::format("{:.1f}", r.gflops),
                               fmt::format("{:.1f} %", 100 * r.share_of_peak()),
                               fmt::format("{:.1e}", r.rel_l2),
                               fmt::format("{}/{}", r.conv.kept, r.conv.tried),
                               r.kernel,
                               where};
  static_assert(std::size(cells) == std::size(kColumns));
  return line_of([&](std::size_t i) { return cells[i]; });
}

}  // namespace

BenchResult BenchReport::add(const BenchCase& bench, const BenchLabel& label) {
  const int threads = resolve_threads(bench.exec.threads);
  const std::string same =
      fmt::format("{}|{}|{}|{}|{}", bench.sites->name, bench.spec.str(), bench.c_in, bench.c_out, threads);
  auto found = results_.find(same);
  if (found == results_.end()) {
    cpu::PeakProbe& probe = probes_.try_emplace(threads, threads).first->second;
    found = results_.emplace(same, measure(bench, probe, pool_)).first;
  }
  BenchResult result = found->second;
  result.model = label.model;
  result.layer = label.layer;
  result.count = label.count;
  result.typical_sites = label.typical_sites;
  print(result);
  return result;
}

void BenchReport::print(const BenchResult& result) {
  if (as_json_) {
    fmt::print("{}\n", result.json_line());
  } else {
    if (!std::exchange(titled_, true)) {
      const CpuInfo cpu = cpu_info();
      fmt::print(
          "{}, {}: f32 FMA peak {:.0f} GFLOP/s on {} thread{}, measured now. Medians of the samples that had "
          "the "
          "machine to themselves (none kept: the best one); milliseconds.\n\n{}\n",
          cpu.model, cpu.instruction_set, result.peak_gflops, result.threads, result.threads == 1 ? "" : "s",
          line_of([](std::size_t i) { return std::string(kColumns[i].title); }));
    }
    fmt::print("{}\n", row_of(result));
  }
  std::fflush(stdout);
}

void BenchReport::say(const std::string& line) const {
  std::FILE* to = as_json_ ? stderr : stdout;
  fmt::print(to, "{}\n", line);
  std::fflush(to);
}

}  // namespace aerogel::cli
