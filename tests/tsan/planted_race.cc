// A race on purpose: the thread sanitizer must report it, or its silence elsewhere means nothing.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "core/parallel.h"

int main() {
  std::int64_t unguarded = 0;
  aerogel::parallel_chunks(64, 1, 4, [&](std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that every thread gets a chunk
    ++unguarded;
  });
  std::printf("%lld\n", static_cast<long long>(unguarded));
}
