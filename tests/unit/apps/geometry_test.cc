#include "geometry.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel::cli {
namespace {

/// Site counts as published; a math library may round a point across a voxel face.
void expect_count(const Geometry& set, double published) {
  EXPECT_NEAR(static_cast<double>(set.sites()), published, published * 1e-4) << set.name;
}

void expect_sites_are_sorted_distinct_and_inside(const Geometry& set) {
  ASSERT_EQ(set.coords.size() % 4, 0u);
  const std::int32_t* before = nullptr;
  for (std::size_t i = 0; i < set.coords.size(); i += 4) {
    const std::int32_t* row = set.coords.data() + i;
    ASSERT_EQ(row[0], 0);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      ASSERT_GE(row[axis + 1], 0);
      ASSERT_LT(row[axis + 1], set.spatial_shape[axis]);
    }
    if (before != nullptr) {
      ASSERT_TRUE(std::lexicographical_compare(before, before + 4, row, row + 4)) << i;
    }
    before = row;
  }
}

TEST(Geometry, SweepsHaveTheirPublishedSites) {
  const double published[] = {66035, 62268};
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const Geometry set = lidar(seed);
    expect_count(set, published[seed]);
    expect_sites_are_sorted_distinct_and_inside(set);
  }
}

TEST(Geometry, ShellsHaveTheirPublishedSites) {
  expect_count(shell(128), 43704);
  expect_count(shell(256), 174668);
  expect_sites_are_sorted_distinct_and_inside(shell(64));
}

TEST(Geometry, FillsHaveTheirPublishedSites) {
  expect_count(uniform(128, 0.1), 209190);
  expect_sites_are_sorted_distinct_and_inside(uniform(32, 0.3));
  EXPECT_EQ(uniform(8, 0).sites(), 0);
  EXPECT_EQ(uniform(8, 1).sites(), 512);
  EXPECT_NE(uniform(16, 0.5, 1).coords, uniform(16, 0.5, 2).coords);
}

TEST(Geometry, SweepsLabelEachPointAndSite) {
  const Geometry set = lidar(0);
  EXPECT_EQ(set.points.size(), set.point_labels.size() * 4);
  EXPECT_EQ(set.site_labels.size(), static_cast<std::size_t>(set.sites()));
  const std::set<std::int32_t> all = {0, 1, 2};
  EXPECT_EQ(std::set<std::int32_t>(set.point_labels.begin(), set.point_labels.end()), all);
  EXPECT_EQ(std::set<std::int32_t>(set.site_labels.begin(), set.site_labels.end()), all);
}

TEST(Geometry, TheSameSeedMakesTheSameSweep) {
  EXPECT_EQ(lidar(3).points, lidar(3).points);
  EXPECT_NE(lidar(3).points, lidar(4).points);
}

TEST(Geometry, UnitIsUniformInItsInterval) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const double value = unit(7, i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);  // five standard errors of 0.29 / √100,000
}

TEST(Geometry, SpecsAreTakenOrRefusedByName) {
  EXPECT_EQ(make_geometry("shell:16").coords, shell(16).coords);
  EXPECT_EQ(make_geometry("uniform:8:0.5").coords, uniform(8, 0.5).coords);
  EXPECT_EQ(make_geometry("uniform:8:0.5:9").coords, uniform(8, 0.5, 9).coords);
  for (const char* spec :
       {"", ":", "shell", "shell:", "shell:0", "shell:-1", "shell:1.5", "shell:8:8", "lidar:x",
        "lidar:4294967296", "uniform:8", "uniform:8:1.1", "uniform:8:-0.1", "uniform:8:nan"}) {
    try {
      make_geometry(spec);
      ADD_FAILURE() << spec;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find('"' + std::string(spec) + '"'), std::string::npos)
          << error.what();
    }
  }
  EXPECT_TRUE(is_geometry_spec("shell:nonsense"));
  EXPECT_FALSE(is_geometry_spec("shell"));
  EXPECT_FALSE(is_geometry_spec("points.bin"));
}

}  // namespace
}  // namespace aerogel::cli
