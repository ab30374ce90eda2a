// Which kernel a problem gets, and why. Everything refusable is refused here; running is arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aerogel/conv.h"

namespace aerogel {

/// One candidate and what became of it.
struct Candidate {
  std::string kernel;  ///< "cpu/sparse_conv/implicit_gemm/f32"
  bool chosen = false;
  std::string reason;  ///< why it was chosen, or why not
};

/// The planner's answer for one problem.
struct Plan {
  std::string problem;                ///< problem string
  std::string kernel;                 ///< name of the chosen row
  std::int64_t workspace_bytes = 0;   ///< scratch memory the run will take
  std::vector<Candidate> candidates;  ///< in the order they were considered

  std::string explain() const;  ///< a line per candidate
};

/// Plans a sparse convolution (or, for a pointwise spec, a linear layer) without running it.
/// throws InvalidArgument if a count is negative; Unsupported, listing every candidate with its reason, if no
/// kernel takes it.
Plan plan_sparse_conv(const ConvProblem& problem, const ExecOptions& exec = {});

/// One row of a kernel table, for listings.
struct KernelInfo {
  std::string name;         ///< <device>/<op>/<dataflow>/<types>
  std::string description;  ///< one line
};
/// Every kernel of every built backend, in table order.
std::vector<KernelInfo> list_kernels();

/// A backend and whether it can compute here.
struct BackendInfo {
  Backend backend = Backend::kCpu;
  bool available = false;
  std::string reason;  ///< why not, where it is not
};
std::vector<BackendInfo> list_backends();

struct SparseConvArgs;  // backend/kernel.h: the exact arrays of a convolution

/// What one op did, handed to ExecOptions::observer after it ran. The pointers live as long as the call.
struct OpRecord {
  std::string label;       ///< ExecOptions::label
  std::int64_t chunk = 0;  ///< ExecOptions::chunk: above 0, the rows behind those of the chunk before
  std::string op;          ///< "subm_conv", "batch_norm", …
  std::string problem;     ///< problem string
  std::string kernel;      ///< row that ran
  std::int64_t sites_in = 0;
  std::int64_t sites_out = 0;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  std::int64_t pairs = 0;  ///< 0 where no map is involved
  bool map_reused = false;
  double map_ms = 0;           ///< time spent on the map in this call; 0 when it was reused
  std::int64_t map_bytes = 0;  ///< memory of the map this call built; 0 when it was reused
  double run_ms = 0;
  double flop = 0;
  std::int64_t workspace_bytes = 0;
  const SparseConvArgs* conv = nullptr;  ///< convolutions and linear layers; else null
  Tensor out;                            ///< the result's features
};

}  // namespace aerogel
