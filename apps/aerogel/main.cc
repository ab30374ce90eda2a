// The command line `aerogel`. The only place that reads the environment, installs a handler and picks exit
// codes.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "aerogel/device.h"
#include "aerogel/error.h"

#include "check.h"
#include "cli.h"

namespace {

using namespace aerogel::cli;

extern "C" void on_interrupt(int number) {
  request_interrupt();
  std::signal(number, SIG_DFL);  // a second Ctrl-C ends at once
}

/// An environment variable that stands in for an option which the command line does not give.
struct Default {
  const char* variable;
  const char* option;
};
constexpr Default kDefaults[] = {
    {"AEROGEL_THREADS", "--threads"}, {"AEROGEL_DEVICE", "--device"}, {"AEROGEL_STRICT", "--strict"}};

/// By value: unset, empty, 0, false, off and no leave the default.
void apply_environment(CLI::App& app) {
  for (const Default& entry : kDefaults) {
    const char* found = std::getenv(entry.variable);
    if (found == nullptr) continue;
    const std::string value = CLI::detail::to_lower(found);
    if (value.empty() || value == "0" || value == "false" || value == "off" || value == "no") continue;
    for (CLI::App* command : app.get_subcommands({})) {
      CLI::Option* option = command->get_option_no_throw(entry.option);
      if (option == nullptr) continue;
      const bool flag = option->get_expected_max() == 0;
      option->run_callback_for_default()->default_val(flag ? std::string("true") : value);
    }
  }
}

int fail(int code, const std::string& message) {
  std::string line = message;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  fmt::print(stderr, "aerogel: error: {}\n", line);
  return code;
}

/// What was printed must have arrived; a full disk is an error although the work was done.
int flush_output(int exit_code) {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || exit_code > kCheckFailed) return exit_code;  // past that, an error line has been printed
  return fail(kUsage,
              fmt::format("cannot write to standard output: {}",
                          errno != 0 ? std::generic_category().message(errno) : "an earlier write failed"));
}

int run_command_line(CLI::App& app, int argc, char** argv, const int& exit_code) {
  try {
    apply_environment(app);
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(kUsage, fmt::format("{} (see aerogel --help)", error.what()));
  } catch (const Interrupted&) {
    return fail(kInterrupted, "interrupted");
  } catch (const aerogel::OutOfMemory& error) {
    return fail(kDevice, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kDevice, "out of memory");
  } catch (const aerogel::DeviceError& error) {
    return fail(kDevice, error.what());
  } catch (const aerogel::Unsupported& error) {
    return fail(kDevice, error.what());
  } catch (const std::exception& error) {        // InvalidArgument, FormatError
    if (std::ferror(stdout) != 0) return kDone;  // fmt's word for it; flush_output has a better one
    return fail(kUsage, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Aerogel: sparse 3D convolution. Points in, features and pictures out.", "aerogel"};
  app.set_version_flag("--version", fmt::format("aerogel {}", aerogel::version()));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Exit codes: 0 done, 1 a check failed, 2 usage, input or output error, 3 device or memory, 130 "
      "interrupted.\n"
      "Environment: AEROGEL_THREADS, AEROGEL_DEVICE, AEROGEL_STRICT stand in for --threads, --device, "
      "--strict\n"
      "(0, false, off: as if unset).");
  int exit_code = kDone;
  add_run(app, exit_code);
  aerogel::cli::add_check(app, exit_code);
  add_convert(app, exit_code);
  add_voxelize(app, exit_code);
  add_render(app, exit_code);
  add_synth(app, exit_code);
  add_compare(app, exit_code);
  add_bench(app, exit_code);
  add_kernels(app, exit_code);
  add_networks(app, exit_code);
  add_info(app, exit_code);

  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  return flush_output(run_command_line(app, argc, argv, exit_code));
}
