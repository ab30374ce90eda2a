#include "check.h"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/plan.h"

#include "check_report.h"
#include "cli.h"

namespace {

struct CheckOptions {
  std::vector<std::string> folders;
  std::vector<std::string> backends;
  int threads = 0;
  bool allow_unsupported = false;
  bool json = false;
};

/// Those asked for, or all that can compute here.
std::vector<aerogel::Backend> backends_of(const CheckOptions& options) {
  std::vector<aerogel::Backend> backends;
  for (const std::string& name : options.backends) backends.push_back(aerogel::parse_backend(name));
  if (!backends.empty()) return backends;
  for (const aerogel::BackendInfo& info : aerogel::list_backends()) {
    if (info.available) backends.push_back(info.backend);
  }
  return backends;
}

std::vector<aerogel::nn::golden::Case> cases_of(const CheckOptions& options) {
  std::vector<aerogel::nn::golden::Case> cases;
  for (const std::string& folder : options.folders) {
    const auto found = aerogel::nn::golden::find_cases(folder);
    if (found.empty()) {
      throw aerogel::InvalidArgument(
          fmt::format("[check] no case.json, model.onnx or paddle_sparse.json below {}", folder));
    }
    cases.insert(cases.end(), found.begin(), found.end());
  }
  return cases;
}

int check(const CheckOptions& options) {
  const auto backends = backends_of(options);
  std::vector<CheckedCase> checked;
  CheckTotals totals;
  for (const auto& which : cases_of(options)) {
    for (const aerogel::Backend backend : backends) {
      aerogel::cli::throw_if_interrupted();
      aerogel::ExecOptions exec;
      exec.backend = backend;
      exec.threads = options.threads;
      const CheckedCase one{which, backend, run_case(which, exec)};
      totals.count(one);
      if (options.json) {
        checked.push_back(one);
      } else {
        fmt::print("{}\n", check_line(one));
        std::fflush(stdout);
      }
    }
  }
  fmt::print("{}\n", options.json ? check_json(checked, totals) : check_summary(totals));
  const bool complete = totals.not_supported == 0 || options.allow_unsupported;
  return totals.failed == 0 && complete ? 0 : 1;
}

}  // namespace

CLI::App* aerogel::cli::add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Run recorded cases on every backend and compare");
  command
      ->add_option("DIR", options->folders,
                   "Folders searched for case.json, model.onnx and paddle_sparse.json")
      ->required();
  command
      ->add_option("--backend", options->backends,
                   "Only this backend; may be given again (default: all available)")
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Threads, 0 = all cores")->check(CLI::NonNegativeNumber);
  command->add_flag("--allow-unsupported", options->allow_unsupported,
                    "Exit 0 although some cases are not supported");
  command->add_flag("--json", options->json, "Print one JSON object instead of lines");
  command->callback([options, &exit_code] { exit_code = check(*options); });
  return command;
}
