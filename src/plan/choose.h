// The only place that compares kernels: rows in order of preference, the first that takes the problem wins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aerogel/device.h"
#include "aerogel/plan.h"

#include "backend/kernel.h"

namespace aerogel {

template <class Args>
using Table = std::span<const Kernel<Args>> KernelTables::*;

/// The rows of one backend; empty tables where it was not built.
const KernelTables& tables_of(Backend backend);

/// Every candidate for an op and what became of it; `index` is the chosen one's place, −1 if none takes the
/// problem.
struct Choice {
  std::vector<Candidate> candidates;
  int index = -1;
};

/// Settles a choice: `reasons[i]` is empty where candidate i takes the problem. A forced kernel (exec.kernel)
/// counts only for the op in its own name.
Choice settle(std::string_view op, std::vector<Candidate> candidates, const ExecOptions& exec);

/// Throws Unsupported with a line per candidate.
[[noreturn]] void refuse(std::string_view op, const std::string& problem, const Choice& choice,
                         const ExecOptions& exec);

/// The rows an op may take: those of exec.backend, then, for the cpu, the reference row as the last resort.
template <class Args>
std::vector<const Kernel<Args>*> rows_for(Table<Args> table, const ExecOptions& exec) {
  std::vector<const Kernel<Args>*> rows;
  for (const Kernel<Args>& row : tables_of(exec.backend).*table) rows.push_back(&row);
  if (exec.backend == Backend::kCpu) {
    for (const Kernel<Args>& row : tables_of(Backend::kReference).*table) rows.push_back(&row);
  }
  return rows;
}

template <class Args>
struct Chosen {
  const Kernel<Args>* kernel = nullptr;
  std::int64_t workspace_bytes = 0;
  std::vector<Candidate> candidates;
};

template <class Args>
Chosen<Args> choose(std::string_view op, const std::string& problem, Table<Args> table, const Args& args,
                    const ExecOptions& exec) {
  const std::vector<const Kernel<Args>*> rows = rows_for(table, exec);
  std::vector<Candidate> candidates;
  candidates.reserve(rows.size());
  for (const Kernel<Args>* row : rows)
    candidates.push_back({std::string(row->name), false, row->supports(args)});
  Choice choice = settle(op, std::move(candidates), exec);
  if (choice.index < 0) refuse(op, problem, choice, exec);
  const Kernel<Args>* kernel = rows[static_cast<std::size_t>(choice.index)];
  return {kernel, kernel->workspace_bytes ? kernel->workspace_bytes(args) : 0, std::move(choice.candidates)};
}

}  // namespace aerogel
