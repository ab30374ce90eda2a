#include "kernel_map/map_cache.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace aerogel {
namespace {

Coordinates three_sites() {
  return Coordinates::create(Tensor::from<std::int32_t>({3, 2}, std::vector<std::int32_t>{0, 0, 0, 1, 0, 2}),
                             {4}, 1);
}

TEST(MapCache, BuildsOncePerGeometryWhileOthersWait) {
  const Coordinates set = three_sites();
  const auto spec = KernelSpec::make(ConvKind::kSubmanifold, {3});
  std::atomic<int> builds{0};
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const KernelMap>> maps(8);
  for (auto& map : maps) {
    threads.emplace_back([&] {
      map = find_or_build_map(set, spec, [&] {
              ++builds;
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              return std::make_shared<const KernelMap>();
            }).map;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(builds, 1);
  for (const auto& map : maps) EXPECT_EQ(map, maps[0]);
  EXPECT_EQ(set.map_stats().builds, 1);
  EXPECT_EQ(set.map_stats().reuses, 7);
}

TEST(MapCache, AFailedBuildLeavesNothingBehind) {
  const Coordinates set = three_sites();
  const auto spec = KernelSpec::make(ConvKind::kSubmanifold, {3});
  EXPECT_THROW(find_or_build_map(
                   set, spec, []() -> std::shared_ptr<const KernelMap> { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_FALSE(find_or_build_map(set, spec, [] { return std::make_shared<const KernelMap>(); }).reused);
}

TEST(MapCache, MapsDieWithTheSet) {
  std::weak_ptr<const KernelMap> map;
  {
    const Coordinates set = three_sites();
    const auto spec = KernelSpec::make(ConvKind::kSubmanifold, {3});
    map = find_or_build_map(set, spec, [] { return std::make_shared<const KernelMap>(); }).map;
    EXPECT_FALSE(map.expired());
  }
  EXPECT_TRUE(map.expired());
}

}  // namespace
}  // namespace aerogel
