// The one door to threads. With AEROGEL_STD_THREADS (the tsan preset) plain std::thread stands in for oneTBB,
// whose Debian build is not instrumented.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#ifdef AEROGEL_STD_THREADS
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#else
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace aerogel {

/// The cores this process may use.
int hardware_threads() noexcept;

/// `asked` threads, or all cores when it is 0 or less. More than the cores have no use but in tests of
/// determinism, so scratch memory, which is sized by this, never follows a wild number.
inline int resolve_threads(int asked) noexcept {
  constexpr int kMost = 64;
  return asked > 0 ? std::min(asked, std::max(kMost, hardware_threads())) : hardware_threads();
}

/// Calls body(begin, end) for chunks of [0, count), each `grain` long but the last. The chunks never depend
/// on the number of threads, so a result that depends only on its chunk is the same bits for any of them. The
/// first exception of a body is rethrown here. A body may take (begin, end, slot): slot <
/// resolve_threads(threads) is held by one running chunk at a time, for scratch memory.
template <class Body>
void parallel_chunks(std::int64_t count, std::int64_t grain, int threads, const Body& body) {
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t chunks = (count + grain - 1) / grain;
  const auto run = [&](std::int64_t chunk, [[maybe_unused]] int slot) {
    const std::int64_t begin = chunk * grain;
    const std::int64_t end = std::min(count, begin + grain);
    if constexpr (std::is_invocable_v<const Body&, std::int64_t, std::int64_t, int>) {
      body(begin, end, slot);
    } else {
      body(begin, end);
    }
  };
  threads = static_cast<int>(std::min<std::int64_t>(resolve_threads(threads), chunks));
  if (threads <= 1) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) run(chunk, 0);
    return;
  }
#ifdef AEROGEL_STD_THREADS
  std::atomic<std::int64_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto work = [&](int slot) {
    // Relaxed: an ordering here would hide races between chunks from the thread sanitizer.
    for (std::int64_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      try {
        run(chunk, slot);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        next.store(chunks);
      }
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(static_cast<std::size_t>(threads) - 1);
  for (int i = 1; i < threads; ++i) pool.emplace_back(work, i);
  work(0);
  for (std::thread& thread : pool) thread.join();
  if (error) std::rethrow_exception(error);
#else
  tbb::task_arena arena(std::min(threads, hardware_threads()));  // TBB prints a warning when asked for more
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, chunks, 1),
        [&](const tbb::blocked_range<std::int64_t>& range) {
          for (std::int64_t chunk = range.begin(); chunk < range.end(); ++chunk)
            run(chunk, tbb::this_task_arena::current_thread_index());
        },
        tbb::simple_partitioner());
  });
#endif
}

}  // namespace aerogel
