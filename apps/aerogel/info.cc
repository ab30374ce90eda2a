// `aerogel info`: what this machine is and can do at best, and what this build has.
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
// Only for their version numbers; the command line itself does not call these libraries.
#if __has_include(<hwy/highway.h>)
#include <hwy/highway.h>
#endif
#if __has_include(<zlib.h>)
#include <zlib.h>
#endif
#ifndef AEROGEL_STD_THREADS
#include <tbb/version.h>
#endif

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

std::string dotted(int major, int minor, int patch) { return fmt::format("{}.{}.{}", major, minor, patch); }

/// The libraries that this was built with.
std::map<std::string, std::string> libraries() {
  std::map<std::string, std::string> found;
  found["fmt"] = dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  found["nlohmann-json"] =
      dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
  found["CLI11"] = CLI11_VERSION;
#ifdef ZLIB_VERSION
  found["zlib"] = ZLIB_VERSION;
#endif
#ifdef HWY_MAJOR
  found["Highway"] = dotted(HWY_MAJOR, HWY_MINOR, HWY_PATCH);
#endif
#ifdef AEROGEL_STD_THREADS
  found["threads"] = "std::thread";
#else
  found["oneTBB"] = fmt::format("{}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR);
#endif
  return found;
}

void info(bool as_json) {
  const CpuInfo cpu = cpu_info();
  const double one = cpu::measure_fma_peak_gflops(1);
  const double all = cpu.threads > 1 ? cpu::measure_fma_peak_gflops(cpu.threads) : one;
  const double read_one = cpu::measure_read_bandwidth_gbs(1);
  const double read_all = cpu.threads > 1 ? cpu::measure_read_bandwidth_gbs(cpu.threads) : read_one;
  nlohmann::json report = {{"version", std::string(version())},
                           {"compiler", AEROGEL_COMPILER},
                           {"libraries", libraries()},
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
  std::string built_with;
  for (const auto& [name, number] : libraries())
    built_with += fmt::format("{}{} {}", built_with.empty() ? "" : ", ", name, number);
  fmt::print("built with {}\n", built_with);
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
