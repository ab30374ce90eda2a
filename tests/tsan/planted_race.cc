// A race on purpose: the thread sanitizer must report it, or its silence elsewhere means nothing.
#include <cstdint>
#include <cstdio>

#include "core/parallel.h"

int main() {
  std::int64_t unguarded = 0;
  aerogel::parallel_chunks(64, 1, 4, [&](std::int64_t, std::int64_t) { ++unguarded; });
  std::printf("%lld\n", static_cast<long long>(unguarded));
}
