// How every verb ends: choose a row, give it scratch memory, time it, tell the observer.
#pragma once

#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "aerogel/error.h"

#include "plan/choose.h"

namespace aerogel {

/// Milliseconds since construction.
class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Whether a kernel is to compute; a dry run only sizes.
enum class DryRun : std::uint8_t { kSkips, kStillRuns };

/// Chooses and runs. `record` comes with what the verb knows (op, problem, sites, channels) and gets the
/// kernel, the workspace and the time; the caller then reports it with `observe`.
template <class Args>
void run_op(std::string_view op, Table<Args> table, Args& args, const ExecOptions& exec, OpRecord& record,
            DryRun dry_run = DryRun::kSkips) {
  args.threads = exec.threads;
  const Chosen<Args> chosen = choose<Args>(op, record.problem, table, args, exec);
  record.kernel = chosen.kernel->name;
  record.workspace_bytes = chosen.workspace_bytes;
  Tensor workspace;
  if (chosen.workspace_bytes > 0) {
    workspace = Tensor::empty({chosen.workspace_bytes}, DType::kU8, exec);
    if constexpr (requires { args.workspace; }) args.workspace = workspace.raw();
  }
  if (exec.dry_run && dry_run == DryRun::kSkips) return;
  const Stopwatch watch;
  try {
    chosen.kernel->run(args);
  } catch (const std::bad_alloc&) {  // a kernel's own scratch, whose size depends on the data
    throw OutOfMemory(-1, -1, std::string(chosen.kernel->name));
  }
  record.run_ms = watch.ms();
}

inline void observe(const ExecOptions& exec, OpRecord& record) {
  if (!exec.observer) return;
  record.label = exec.label;
  record.chunk = exec.chunk;
  exec.observer(record);
}

}  // namespace aerogel
