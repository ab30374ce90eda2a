// Maps are shared without anyone naming a key, and a dry run plans exactly what the run then takes.
#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/plan.h"

#include "conformance/generate.h"

namespace aerogel {
namespace {

TEST(Sharing, LayersOfOneGeometryShareOneMap) {
  testing::Random random(3);
  const Coordinates sites = testing::random_sites(random, {16, 16, 16}, 1, 500, true);
  SparseTensor x{testing::signed_tensor(random, {sites.size(), 8}), sites};
  for (int layer = 0; layer < 4; ++layer) x = subm_conv(x, testing::signed_tensor(random, {8, 3, 3, 3, 8}));
  EXPECT_EQ(sites.map_stats().builds, 1);
  EXPECT_EQ(sites.map_stats().reuses, 3);
  x = subm_conv(x, testing::signed_tensor(random, {8, 3, 1, 3, 8}));
  EXPECT_EQ(sites.map_stats().builds, 2);
  const ConvOptions down{{2, 2, 2}, {1, 1, 1}, {}, {}};
  const SparseTensor coarse = sparse_conv(x, testing::signed_tensor(random, {8, 3, 3, 3, 8}), down);
  const SparseTensor pooled = max_pool(x, {3, 3, 3}, down);
  EXPECT_EQ(coarse.coordinates, pooled.coordinates) << "a pool of the same geometry stands on the same sites";
}

TEST(Sharing, ADryRunPlansThePeakThatTheRunMeets) {
  testing::Random random(4);
  const Coordinates sites = testing::random_sites(random, {16, 16, 16}, 1, 800, false);
  const ConvWeight first(testing::signed_tensor(random, {32, 3, 3, 3, 8}));
  const ConvWeight second(testing::signed_tensor(random, {64, 3, 3, 3, 32}));
  const Tensor features = testing::signed_tensor(random, {sites.size(), 8});
  std::int64_t peaks[2];
  for (const bool dry : {true, false}) {
    ExecOptions exec;
    exec.dry_run = dry;
    exec.meter = std::make_shared<MemoryMeter>();
    int maps_built = 0;
    exec.observer = [&](const OpRecord& record) { maps_built += record.pairs > 0 && !record.map_reused; };
    SparseTensor x{features, sites};
    x = relu(subm_conv(x, first, {}, {}, exec), exec);
    x = sparse_conv(x, second, {{2, 2, 2}, {1, 1, 1}, {}, {}}, {}, exec);
    EXPECT_EQ(maps_built, dry ? 2 : 0);
    EXPECT_EQ(x.features.has_data(), !dry);
    peaks[dry] = exec.meter->peak_bytes();
  }
  EXPECT_EQ(peaks[0], peaks[1]);
  EXPECT_GE(peaks[0], sites.size() * 64 * 4);
}

TEST(Sharing, BuildingAMapIsCountedAndLimited) {
  testing::Random random(5);
  const Coordinates sites = testing::random_sites(random, {16, 16, 16}, 1, 200, true);
  const SparseTensor x{testing::signed_tensor(random, {sites.size(), 1}), sites};
  const ConvOptions wide{{}, {100, 100, 100}, {}, {}};  // every site reaches a window of 101³ outputs
  ExecOptions exec;
  exec.dry_run = true;
  exec.meter = std::make_shared<MemoryMeter>(std::int64_t{64} << 20);
  try {
    static_cast<void>(
        max_pool(x, {101, 101, 101}, wide, PoolSites::kRegular, MaxIdentity::kNegativeInfinity, exec));
    FAIL() << "a map of 200 million pairs in 64 MiB";
  } catch (const OutOfMemory& error) {
    EXPECT_GT(error.asked_bytes(), 0);
    EXPECT_GE(error.free_bytes(), 0);
    EXPECT_LT(error.free_bytes(), error.asked_bytes());
  }
  EXPECT_EQ(exec.meter->live_bytes(MemoryUse::kMapBuilding), 0) << "a refused builder gives everything back";
  EXPECT_LE(exec.meter->peak_bytes(MemoryUse::kMapBuilding), std::int64_t{64} << 20);

  static_cast<void>(max_pool(x, {3, 3, 3}, {}, PoolSites::kRegular, MaxIdentity::kNegativeInfinity, exec));
  const auto map = build_kernel_map(sites, KernelSpec::make(ConvKind::kRegular, {3, 3, 3}));
  EXPECT_EQ(exec.meter->live_bytes(MemoryUse::kMapBuilding), 0);
  EXPECT_GE(exec.meter->peak_bytes(MemoryUse::kMapBuilding), map->in_rows.nbytes() + map->out_rows.nbytes());
}

}  // namespace
}  // namespace aerogel
