// What the subcommands share: how each is registered, exit codes, Ctrl-C.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "aerogel/nn.h"

namespace aerogel::cli {

enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,
  kUsage = 2,          // a wrong option, name or file
  kDevice = 3,         // a device, a kernel or memory that is not there
  kInterrupted = 130,  // Ctrl-C
};

// Each adds one subcommand; its callback sets exit_code when something other than an exception makes it
// nonzero.
CLI::App* add_run(CLI::App& app, int& exit_code);
CLI::App* add_convert(CLI::App& app, int& exit_code);
CLI::App* add_voxelize(CLI::App& app, int& exit_code);
CLI::App* add_render(CLI::App& app, int& exit_code);
CLI::App* add_synth(CLI::App& app, int& exit_code);
CLI::App* add_bench(CLI::App& app, int& exit_code);
CLI::App* add_compare(CLI::App& app, int& exit_code);
CLI::App* add_kernels(CLI::App& app, int& exit_code);
CLI::App* add_networks(CLI::App& app, int& exit_code);
CLI::App* add_info(CLI::App& app, int& exit_code);

/// What `--network` takes for it: "centerpoint --variant waymo".
std::string network_arguments(const nn::NetworkInfo& info);

/// Thrown between layers once Ctrl-C was pressed.
struct Interrupted {};

/// From the signal handler: remembers the request.
void request_interrupt() noexcept;
/// Throws Interrupted if it was requested.
void throw_if_interrupted();

}  // namespace aerogel::cli
