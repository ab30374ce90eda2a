// `aerogel info`: what this machine is and can do at best, and what this build has.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aerogel/device.h"
#include "aerogel/plan.h"

#include "backend/cpu/peak.h"
#include "cli.h"

#ifdef __clang__
#define AEROGEL_COMPILER "clang " __clang_version__
#else
#define AEROGEL_COMPILER "g++ " __VERSION__
#endif

namespace aerogel::cli {

namespace {

void info(bool as_json) {
  const CpuInfo cpu = cpu_info();
  const double one = cpu::measure_fma_peak_gflops(1);
  const double all = cpu.threads > 1 ? cpu::measure_fma_peak_gflops(cpu.threads) : one;
  const double read_one = cpu::measure_read_bandwidth_gbs(1);
  const double read_all = cpu.threads > 1 ? cpu::measure_read_bandwidth_gbs(cpu.threads) : read_one;
  nlohmann::json report = {{"version", std::string(version())},
                           {"compiler", AEROGEL_COMPILER},
                           {"fmt", FMT_VERSION},
                           {"processor", cpu.model},
                           {"instruction_set", cpu.instruction_set},
                           {"threads", cpu.threads},
                           {"f32_fma_gflops", {{"one_thread", one}, {"all_threads", all}}},
                           {"read_gbs", {{"one_thread", read_one}, {"all_threads", read_all}}},
                           {"backends", nlohmann::json::array()}};
  for (const BackendInfo& backend : list_backends()) {
    report["backends"].push_back({{"name", std::string(backend_name(backend.backend))},
                                  {"available", backend.available},
                                  {"reason", backend.reason}});
  }
  if (as_json) {
    fmt::print("{}\n", report.dump());
    return;
  }
  fmt::print("aerogel {} ({})\n", version(), AEROGEL_COMPILER);
  fmt::print("processor  {}, {} threads, instruction set {}\n", cpu.model, cpu.threads, cpu.instruction_set);
  fmt::print(
      "f32 FMA    {:.0f} GFLOP/s on one thread, {:.0f} on {} (measured now; other work on the machine lowers "
      "it)\n",
      one, all, cpu.threads);
  fmt::print("read       {:.1f} GB/s from memory on one thread, {:.1f} on {}\n", read_one, read_all,
             cpu.threads);
  for (const BackendInfo& backend : list_backends()) {
    fmt::print("{:<10} {}\n", backend_name(backend.backend),
               backend.available ? "available" : backend.reason);
  }
}

}  // namespace

CLI::App* add_info(CLI::App& app, int&) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "info", "Processor, instruction sets, measured peak and bandwidth, backends, versions");
  command->add_flag("--json", *as_json, "One JSON object");
  command->callback([as_json] { info(*as_json); });
  return command;
}

}  // namespace aerogel::cli
