// Measured machine limits. The multiply-add loop keeps 12 independent accumulators: enough to cover a latency
// of 4 cycles on two units (AVX2, AVX-512 of Zen 3 to 5 and of Skylake to Emerald Rapids), few enough for 16
// registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/peak.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/peak.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kAccumulators = 12;

/// Runs `steps` rounds of kAccumulators multiply-adds; returns their FLOP. `sink` keeps the compiler honest.
double multiply_add(std::int64_t steps, float* sink) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, *sink);  // unknown to the compiler
  hn::Vec<decltype(d)> acc[kAccumulators];
#pragma GCC unroll 16
  for (int i = 0; i < kAccumulators; ++i) acc[i] = hn::Set(d, static_cast<float>(i));
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < kAccumulators; ++i) acc[i] = hn::MulAdd(acc[i], factor, factor);
  }
  auto sum = acc[0];
#pragma GCC unroll 16
  for (int i = 1; i < kAccumulators; ++i) sum = hn::Add(sum, acc[i]);
  *sink = hn::GetLane(sum);
  return 2.0 * kAccumulators * static_cast<double>(hn::Lanes(d)) * static_cast<double>(steps);
}

/// The sum of `count` floats, a multiple of 4 vectors, four vectors at a time.
float read_floats(const float* data, std::int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (std::int64_t i = 0; i < count; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, data + i));
    b = hn::Add(b, hn::LoadU(d, data + i + lanes));
    c = hn::Add(c, hn::LoadU(d, data + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, data + i + 3 * lanes));
  }
  return hn::GetLane(hn::Add(hn::Add(a, b), hn::Add(c, e)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(multiply_add);
HWY_EXPORT(read_floats);

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Runs body(thread) on every thread at once. Threads wait up to 1 ms for each other: a thread pool may have
/// fewer.
template <class Body>
void on_every_thread(int threads, const Body& body) {
  std::atomic<int> arrived{0};
  parallel_chunks(threads, 1, threads, [&](std::int64_t begin, std::int64_t) {
    arrived.fetch_add(1);
    for (const auto start = Clock::now(); arrived.load() < threads && seconds_since(start) < 1e-3;) {
    }
    body(begin);
  });
}

constexpr double kProbeSeconds = 1e-4;

/// One loop per thread, all at once; GFLOP/s of the slowest and of the fastest thread.
struct Rates {
  double slowest, fastest;
};
Rates probe(int threads, std::int64_t steps) {
  std::vector<double> rates(static_cast<std::size_t>(threads));
  on_every_thread(threads, [&](std::int64_t thread) {
    float sink = 0.5F;  // accumulators go to 1: no denormals, no infinities
    const auto begin = Clock::now();
    const double flop = HWY_DYNAMIC_DISPATCH(multiply_add)(steps, &sink);
    rates[static_cast<std::size_t>(thread)] = flop / seconds_since(begin) * 1e-9;
  });
  const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
  return {*slowest, *fastest};
}

/// Steps of a loop that takes kProbeSeconds at the given rate.
std::int64_t probe_steps(double gflops_per_thread) {
  float sink = 0.5F;
  const double flop_per_step = HWY_DYNAMIC_DISPATCH(multiply_add)(1, &sink);
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(kProbeSeconds * gflops_per_thread * 1e9 / flop_per_step));
}

/// The best rate that every thread reached in one loop, GFLOP/s per thread.
/// A probe waits until all its threads run at once, so it never asks for more than there are cores.
int probed_threads(int asked) { return std::min(resolve_threads(asked), hardware_threads()); }

double best_rate(int threads) {
  double best = 1;
  for (int i = 0; i < 500; ++i) best = std::max(best, probe(threads, probe_steps(best)).slowest);
  return best;
}

std::int64_t involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

double measure_fma_peak_gflops(int threads) {
  threads = probed_threads(threads);
  return threads * best_rate(threads);
}

double measure_read_bandwidth_gbs(int threads) {
  threads = probed_threads(threads);
#ifdef _SC_LEVEL3_CACHE_SIZE
  const std::int64_t cache = std::max<std::int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
#else
  const std::int64_t cache = 0;
#endif
  constexpr std::int64_t kMegabyte = 1 << 20;
  const std::int64_t bytes = std::clamp(3 * cache, 256 * kMegabyte, 1024 * kMegabyte);
  const std::int64_t part = bytes / threads / 4096 * 1024;  // floats per thread, whole pages
  std::vector<float> data(static_cast<std::size_t>(part * threads), 1.0F);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<float> sums(static_cast<std::size_t>(threads));
    const auto begin = Clock::now();
    on_every_thread(threads, [&](std::int64_t thread) {
      sums[static_cast<std::size_t>(thread)] =
          HWY_DYNAMIC_DISPATCH(read_floats)(data.data() + thread * part, part);
    });
    const double seconds = seconds_since(begin);
    if (sums[0] > 0)
      best = std::max(best, static_cast<double>(part) * threads * sizeof(float) / seconds * 1e-9);
  }
  return best;
}

PeakProbe::PeakProbe(int threads)
    : threads_(probed_threads(threads)), peak_per_thread_(best_rate(threads_)) {}

double PeakProbe::slowest_share() {
  const Rates rates = probe(threads_, probe_steps(peak_per_thread_));
  peak_per_thread_ = std::max(peak_per_thread_, rates.slowest);
  return rates.slowest / peak_per_thread_;
}

PeakProbe::Sample PeakProbe::time(const std::function<void()>& body) {
  const std::int64_t switches = involuntary_switches();
  const double before = slowest_share();
  const auto begin = Clock::now();
  body();
  const double seconds = seconds_since(begin);
  const double after = slowest_share();
  return {seconds, std::min(before, after), involuntary_switches() - switches};
}

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
