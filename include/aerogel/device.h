// Where memory lives, which backend computes, and how a call may be run. All choices are values; none is
// global.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "aerogel/types.h"

namespace aerogel {

/// A family of kernels. kReference is the judge: the shortest correct loops, accumulating in double.
enum class Backend : std::uint8_t { kReference, kCpu, kCuda, kVulkan };

std::string_view backend_name(Backend backend) noexcept;  ///< "reference", "cpu", "cuda", "vulkan"
Backend parse_backend(std::string_view name);             ///< InvalidArgument listing the known names

/// What counted bytes are for.
enum class MemoryUse : std::uint8_t {
  kTensors,      ///< tensors and workspaces: what a dry run plans
  kMapBuilding,  ///< what a builder of kernel maps holds while it works: scratch, and the map until it is
                 ///< done
};

/// Counts the bytes that are alive, and the most that ever were, by their use. Thread-safe.
class MemoryMeter {
 public:
  MemoryMeter() = default;
  /// Refuses whatever would bring all uses together past `limit_bytes`.
  explicit MemoryMeter(std::int64_t limit_bytes) : limit_(limit_bytes) {}

  /// To be called before the bytes are allocated. OutOfMemory, with what was asked and what is free, past the
  /// limit; then nothing is counted.
  void add(std::int64_t bytes, MemoryUse use = MemoryUse::kTensors);
  void remove(std::int64_t bytes, MemoryUse use = MemoryUse::kTensors) noexcept;
  std::int64_t live_bytes(MemoryUse use = MemoryUse::kTensors) const noexcept;
  std::int64_t peak_bytes(MemoryUse use = MemoryUse::kTensors) const noexcept;

 private:
  struct Count {
    std::int64_t live = 0;
    std::int64_t peak = 0;
  };
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  mutable std::int64_t total_ = 0;  // accessed, as the counts are, through std::atomic_ref
  mutable Count counts_[2];         // by MemoryUse
};

struct OpRecord;  // plan.h: what one op did

/// How a call is to be run. The default runs on the cpu backend with every core.
struct ExecOptions {
  Backend backend = Backend::kCpu;
  int threads = 0;       ///< 0 = all cores; results are the same bits for any number
  std::string kernel;    ///< force the kernel of this name (must be of `backend`); empty = planner
  bool dry_run = false;  ///< size everything, build maps, compute nothing: tensors have no data
  std::shared_ptr<MemoryMeter> meter;  ///< counts memory and may limit it; optional
  std::string label;                   ///< copied into every OpRecord, such as a layer's name
  std::int64_t chunk = 0;  ///< copied likewise: the number of the run of rows, where a layer goes by runs
  std::function<void(const OpRecord&)> observer;  ///< called after each op, on the calling thread; optional
};

/// What the processor is and can do, as measured or read once.
struct CpuInfo {
  std::string model;            ///< "AMD EPYC …", as the system names it
  std::string instruction_set;  ///< the Highway target in use: "AVX3", "AVX2", "NEON", …
  int threads = 1;              ///< cores this process may use
};
CpuInfo cpu_info();

/// Library version, "0.1.0".
std::string_view version() noexcept;

}  // namespace aerogel
