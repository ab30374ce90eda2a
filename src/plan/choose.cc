#include "plan/choose.h"

#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

bool is_listed(const std::string& kernel) {
  const std::vector<KernelInfo> rows = list_kernels();
  return std::any_of(rows.begin(), rows.end(), [&](const KernelInfo& row) { return row.name == kernel; });
}

}  // namespace

const KernelTables& tables_of(Backend backend) {
  switch (backend) {
    case Backend::kReference:
      return reference::kernels();
    case Backend::kCpu:
      return cpu::kernels();
    default:
      return absent::kernels();
  }
}

Choice settle(std::string_view op, std::vector<Candidate> candidates, const ExecOptions& exec) {
  Choice choice{std::move(candidates), -1};
  const bool forced = exec.kernel.find(fmt::format("/{}/", op)) != std::string::npos;
  if (!exec.kernel.empty() && !forced && !is_listed(exec.kernel)) {
    throw Unsupported(
        fmt::format("[{}] no kernel is named '{}'; list_kernels() names them all", op, exec.kernel));
  }
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    Candidate& candidate = choice.candidates[i];
    if (!candidate.reason.empty()) continue;  // it said itself why not
    if (forced && candidate.kernel != exec.kernel) {
      candidate.reason = fmt::format("not asked for: kernel {} is forced", exec.kernel);
    } else if (choice.index >= 0) {
      candidate.reason = "takes it, but stands lower in the order of preference";
    } else {
      candidate.chosen = true;
      candidate.reason = forced ? "forced by name" : "first in the order of preference that takes it";
      choice.index = static_cast<int>(i);
    }
  }
  return choice;
}

void refuse(std::string_view op, const std::string& problem, const Choice& choice, const ExecOptions& exec) {
  std::string message =
      fmt::format("[{}] no kernel of backend {} takes {}", op, backend_name(exec.backend), problem);
  for (const Candidate& candidate : choice.candidates) {
    message += fmt::format("\n  {}: {}", candidate.kernel, candidate.reason);
  }
  if (choice.candidates.empty()) {
    const std::string_view reason = absent::reason(exec.backend);
    message += fmt::format("\n  {}", reason.empty() ? "it has none for this op" : reason);
  }
  throw Unsupported(message);
}

}  // namespace aerogel
