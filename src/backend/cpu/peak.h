// What this processor can do at best, measured: the yardstick of benchmarks. Nothing here is used by kernels.
#pragma once

#include <cstdint>
#include <functional>

namespace aerogel::cpu {

/// f32 multiply-add rate of `threads` threads at once in GFLOP/s, in the instruction set that the kernels
/// use: the best of many 0.1 ms loops in registers. Takes about 0.1 s.
double measure_fma_peak_gflops(int threads);

/// Rate at which `threads` threads at once read memory past the last-level cache, in GB/s (10^9). Takes about
/// 1 s.
double measure_read_bandwidth_gbs(int threads);

/// Tells whether a timed sample had the machine to itself: a 0.1 ms multiply-add loop on every thread right
/// before and right after it must reach the peak measured at construction, and no involuntary context switch
/// may hit it.
class PeakProbe {
 public:
  explicit PeakProbe(int threads);

  /// All threads together, in GFLOP/s. Grows if a later probe beats it.
  double peak_gflops() const noexcept { return threads_ * peak_per_thread_; }

  /// Runs the loop once; the share of the peak that the slowest thread reached.
  double slowest_share();

  struct Sample {
    double seconds = 0;
    double slowest_share = 0;               // the lower one of before and after
    std::int64_t involuntary_switches = 0;  // of the whole process, probes included
    bool clean() const noexcept { return slowest_share >= 0.95 && involuntary_switches == 0; }
  };
  Sample time(const std::function<void()>& body);

 private:
  int threads_;
  double peak_per_thread_ = 0;
};

}  // namespace aerogel::cpu
