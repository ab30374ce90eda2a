#include "bench_sites.h"

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel::cli {
namespace {

TEST(BenchSites, KeysStandForGeometriesInProblemStrings) {
  for (const bool shuffle : {false, true}) {
    const BenchSites sites = bench_sites("uniform:16:0.1", "", shuffle, 3);
    EXPECT_EQ(sites.key.find(':'), std::string::npos) << sites.key;
    bool found = false;
    EXPECT_EQ(spec_of_key(sites.key, found), "uniform:16:0.1");
    EXPECT_EQ(found, shuffle);
  }
}

TEST(BenchSites, ShufflingKeepsTheSites) {
  const BenchSites sorted = bench_sites("shell:24", "", false, 0);
  const BenchSites shuffled = bench_sites("shell:24", "", true, 0);
  EXPECT_TRUE(coordinates_of(sorted).is_sorted());
  EXPECT_FALSE(coordinates_of(shuffled).is_sorted());  // create refuses rows that are equal
  EXPECT_EQ(shuffled.size(), sorted.size());
  EXPECT_THROW(bench_sites("nonsense:1", "", false, 0), InvalidArgument);
}

TEST(BenchSites, SweepsComeInTheSizeAndGridAskedFor) {
  for (const Dims& grid : {Dims{41, 400, 352}, Dims{240, 180, 16}, Dims{100, 88}}) {
    const BenchSites sites = sweep_sites(grid, 2000);
    EXPECT_TRUE(sites.spatial_shape == grid) << sites.name;
    EXPECT_GT(sites.size(), 1000) << sites.name;
    EXPECT_LT(sites.size(), 4000) << sites.name;
    EXPECT_TRUE(coordinates_of(sites).is_sorted()) << sites.name;
  }
}

TEST(BenchSites, HalvingHalvesTheExtents) {
  const BenchSites half = halve(bench_sites("shell:24", "", false, 0));
  EXPECT_TRUE((half.spatial_shape == Dims{12, 12, 12}));
  EXPECT_GT(half.size(), 0);
}

}  // namespace
}  // namespace aerogel::cli
