#include "core/parallel.h"

#include <sched.h>
#include <thread>

namespace aerogel {

int hardware_threads() noexcept {
  static const int threads = [] {
#ifdef __linux__
    cpu_set_t set;  // honours taskset and cgroup cpusets, which hardware_concurrency does not everywhere
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return threads;
}

}  // namespace aerogel
