#include "cloud.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "unit/io/io_testing.h"

namespace aerogel::cli {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class CloudTest : public testing::Test {
 protected:
  /// A .bin of these rows.
  std::string bin(const std::vector<float>& values) {
    const std::string path = (folder_ / "points.bin").string();
    io::write_file(path, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    return path;
  }
  std::string text(const std::string& name, const std::string& content) {
    const std::string path = (folder_ / name).string();
    io::write_file(path, content);
    return path;
  }

  io::ScratchFolder folder_;
};

std::vector<float> values_of(const Cloud& cloud) {
  const auto* data = cloud.points.data<float>();
  return {data, data + cloud.points.numel()};
}

const std::vector<std::string> kXyzi = {"x", "y", "z", "intensity"};

TEST_F(CloudTest, FindsColumnsByNameWhateverTheirOrder) {
  CloudOptions options;
  options.columns = {"intensity", "z", "y", "x"};
  const Cloud cloud = read_cloud(bin({9, 3, 2, 1, 8, 6, 5, 4}), kXyzi, options);
  EXPECT_EQ(values_of(cloud), (std::vector<float>{1, 2, 3, 9, 4, 5, 6, 8}));
  EXPECT_TRUE(cloud.missing.empty());
  EXPECT_TRUE(cloud.renamed.empty());
  EXPECT_EQ(cloud.lo, (std::array<double, 3>{1, 2, 3}));
  EXPECT_EQ(cloud.hi, (std::array<double, 3>{4, 5, 6}));
  EXPECT_EQ(cloud.longest_side(), 3);
  EXPECT_EQ(cloud.name, "points");
}

TEST_F(CloudTest, TakesOtherNamesOfAColumnAndTellsSo) {
  CloudOptions options;
  options.columns = {"x", "y", "z", "reflectivity"};
  const Cloud cloud = read_cloud(bin({1, 2, 3, 9}), kXyzi, options);
  EXPECT_EQ(values_of(cloud), (std::vector<float>{1, 2, 3, 9}));
  EXPECT_EQ(cloud.renamed, (std::vector<std::string>{"intensity from reflectivity"}));
}

TEST_F(CloudTest, FillsMissingFeaturesWithZerosAndNamesThem) {
  const Cloud cloud = read_cloud(bin({1, 2, 3, 9}), {"x", "y", "z", "r", "intensity", "elongation"}, {});
  EXPECT_EQ(values_of(cloud), (std::vector<float>{1, 2, 3, 0, 9, 0}));
  EXPECT_EQ(cloud.missing, (std::vector<std::string>{"r", "elongation"}));
  std::string told;
  for (const std::string& line : describe(cloud)) told += line + "\n";
  EXPECT_NE(told.find("no r, elongation"), std::string::npos) << told;
}

TEST_F(CloudTest, NamesTheColumnsOfAFileWithoutZ) {
  const std::string path =
      text("flat.ply",
           "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
           "property float a\nend_header\n1 2 3\n");
  for (const bool all : {false, true}) {
    try {
      all ? read_cloud_all_columns(path, {}) : read_cloud(path, kXyzi, {});
      ADD_FAILURE() << "no z";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("no column z; its columns are x, y, a"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(CloudTest, DropsAndCountsRowsThatAreNotFinite) {
  const std::string path = bin({1, 2, 3, 0, kNan, 2, 3, 0, 1, HUGE_VALF, 3, 0, 4, 5, 6, kNan, 7, 8, 9, 0});
  const Cloud cloud = read_cloud(path, kXyzi, {});
  EXPECT_EQ(values_of(cloud), (std::vector<float>{1, 2, 3, 0, 7, 8, 9, 0}));
  EXPECT_EQ(cloud.rows_read, 5);
  EXPECT_EQ(cloud.rows_not_finite, 3);
  EXPECT_EQ(read_cloud(path, {"x", "y", "z"}, {}).rows_not_finite,
            2);  // a column not asked for is not judged
  CloudOptions strict;
  strict.strict = true;
  try {
    read_cloud(path, kXyzi, strict);
    ADD_FAILURE() << "strict";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("3 rows are not finite, the first is row 1"), std::string::npos)
        << error.what();
  }
}

TEST_F(CloudTest, ShiftsLargeCoordinatesInDouble) {
  const std::string path =
      text("survey.pcd",
           "VERSION 0.7\nFIELDS x y z\nSIZE 8 8 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\n"
           "POINTS 2\nDATA ascii\n4500000.125 -20000.5 7\n4500001.375 -20000.25 8\n");
  const Cloud cloud = read_cloud(path, {"x", "y", "z"}, {});
  EXPECT_TRUE(cloud.shifted);
  EXPECT_EQ(cloud.origin, (std::array<double, 3>{4500000, -20001, 0}));
  EXPECT_EQ(values_of(cloud), (std::vector<float>{0.125F, 0.5F, 7, 1.375F, 0.75F, 8}));
  EXPECT_EQ(cloud.hi, (std::array<double, 3>{1.375, 0.75, 8}));
  EXPECT_FALSE(read_cloud(bin({9999, 2, 3, 0}), kXyzi, {}).shifted);
}

TEST_F(CloudTest, TakesEveryColumnWithXyzFirst) {
  CloudOptions options;
  options.columns = {"ring", "z", "y", "x", "gain"};
  const Cloud cloud = read_cloud_all_columns(bin({5, 3, 2, 1, 6}), options);
  EXPECT_EQ(cloud.features, (std::vector<std::string>{"x", "y", "z", "ring", "gain"}));
  EXPECT_EQ(values_of(cloud), (std::vector<float>{1, 2, 3, 5, 6}));
}

TEST_F(CloudTest, EmptyFilesAreEmptyClouds) {
  const Cloud cloud = read_cloud(bin({}), kXyzi, {});
  EXPECT_EQ(cloud.size(), 0);
  EXPECT_EQ(cloud.longest_side(), 0);
}

TEST_F(CloudTest, SyntheticSetsComeAsPoints) {
  const Cloud sweep = read_cloud_all_columns("synth:lidar:0", {});
  EXPECT_EQ(sweep.features, kXyzi);
  EXPECT_FALSE(sweep.own_grid.has_value());
  EXPECT_EQ(sweep.name, "lidar_0");
  const Cloud shell = read_cloud("synth:shell:16", {"x", "y", "z"}, {});
  ASSERT_TRUE(shell.own_grid.has_value());
  EXPECT_EQ(shell.own_grid->voxel[0], 1.0 / 16);
  EXPECT_THROW(read_cloud("synth:nonsense", kXyzi, {}), InvalidArgument);
}

TEST_F(CloudTest, FoldersBecomeTheirFilesByName) {
  for (const char* name : {"b.bin", "a.pcd", "notes.txt"}) text(name, "");
  const std::string root = folder_.path().string();
  EXPECT_EQ(expand_inputs({root, "synth:shell:8"}),
            (std::vector<std::string>{root + "/a.pcd", root + "/b.bin", "synth:shell:8"}));
  EXPECT_THROW(expand_inputs({root + "/missing.bin"}), InvalidArgument);
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_THROW(expand_inputs({root + "/empty"}), InvalidArgument);
}

}  // namespace
}  // namespace aerogel::cli
