#include "core/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace aerogel {
namespace {

TEST(Parallel, VisitsEveryIndexOnceWithChunksThatDoNotDependOnThreads) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> visits(1000);
    parallel_chunks(1000, 64, threads, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(begin % 64, 0);
      EXPECT_TRUE(end - begin == 64 || end == 1000);
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
  }
}

TEST(Parallel, SlotsAreHeldByOneChunkAtATime) {
  std::vector<std::atomic<int>> held(4);
  parallel_chunks(400, 1, 4, [&](std::int64_t, std::int64_t, int slot) {
    ASSERT_LT(slot, 4);
    EXPECT_EQ(held[static_cast<std::size_t>(slot)].fetch_add(1), 0);
    held[static_cast<std::size_t>(slot)].fetch_sub(1);
  });
}

TEST(Parallel, NothingToDoIsFine) {
  parallel_chunks(0, 16, 4, [](std::int64_t, std::int64_t) { FAIL(); });
}

TEST(Parallel, RethrowsTheBodysException) {
  EXPECT_THROW(parallel_chunks(100, 1, 3,
                               [](std::int64_t begin, std::int64_t) {
                                 if (begin == 42) throw std::runtime_error("chunk 42");
                               }),
               std::runtime_error);
}

}  // namespace
}  // namespace aerogel
