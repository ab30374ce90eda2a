#include "aerogel/plan.h"

#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "plan/choose.h"

namespace aerogel {
namespace {

void require_counts(const ConvProblem& problem) {
  const std::pair<const char*, std::int64_t> counts[] = {{"n_in", problem.n_in},
                                                         {"n_out", problem.n_out},
                                                         {"pairs", problem.pairs},
                                                         {"c_in", problem.c_in},
                                                         {"c_out", problem.c_out}};
  for (const auto& [name, count] : counts) {
    if (count < 0) throw InvalidArgument(fmt::format("[plan] {} must be at least 0, got {}", name, count));
  }
}

}  // namespace

std::string Plan::explain() const {
  std::string text = problem + "\n";
  for (const Candidate& candidate : candidates) {
    text += fmt::format("  {} {}: {}\n", candidate.chosen ? "*" : "-", candidate.kernel, candidate.reason);
  }
  return text + fmt::format("  workspace {} bytes\n", workspace_bytes);
}

Plan plan_sparse_conv(const ConvProblem& problem, const ExecOptions& exec) {
  require_counts(problem);
  SparseConvArgs args;
  args.problem = problem;
  args.threads = exec.threads;
  const bool pointwise = problem.spec.is_pointwise();
  auto chosen =
      choose<SparseConvArgs>(pointwise ? "linear" : "sparse_conv", problem.str(),
                             pointwise ? &KernelTables::linear : &KernelTables::sparse_conv, args, exec);
  return {problem.str(), std::string(chosen.kernel->name), chosen.workspace_bytes,
          std::move(chosen.candidates)};
}

std::vector<KernelInfo> list_kernels() {
  std::vector<KernelInfo> rows;
  for (const Backend backend : {Backend::kReference, Backend::kCpu, Backend::kCuda, Backend::kVulkan}) {
    tables_of(backend).for_each([&rows](std::string_view, const auto& table) {
      for (const auto& row : table) rows.push_back({std::string(row.name), std::string(row.description)});
    });
  }
  return rows;
}

std::vector<BackendInfo> list_backends() {
  std::vector<BackendInfo> backends;
  for (const Backend backend : {Backend::kReference, Backend::kCpu, Backend::kCuda, Backend::kVulkan}) {
    const std::string reason(absent::reason(backend));
    backends.push_back({backend, reason.empty(), reason});
  }
  return backends;
}

}  // namespace aerogel
