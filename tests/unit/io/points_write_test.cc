#include <cmath>

#include "io_testing.h"
#include "shared_data.h"

namespace aerogel::io {
namespace {

using Names = std::vector<std::string>;

/// Every kind of column: fractions that f32 lacks, f32, small and large whole numbers.
PointTable mixed() {
  PointTable table;
  table.names = {"x", "y", "z", "intensity", "ring", "id"};
  table.columns = {{0.1, -5, 7}, {1, 2.5, 3}, {0, 0, -1}, {0.5, 1, 0}, {0, 63, 255}, {0, 1, 4294967295.0}};
  table.dtypes = {DType::kF64, DType::kF32, DType::kF32, DType::kF32, DType::kU8, DType::kU32};
  return table;
}

PointTable write_and_read(const std::string& name, const PointTable& table, PointWriteReport& report,
                          const PointWriteOptions& options = {}) {
  const ScratchFolder folder;
  report = write_points(folder / name, table, options);
  return read_points(folder / name);
}

Names names_of(const std::vector<PointWriteReport::Note>& notes) {
  Names names;
  for (const auto& note : notes) names.push_back(note.column);
  return names;
}

TEST(PointsWrite, PlyAndPcdKeepEverything) {
  for (const char* name : {"a.ply", "a.pcd"}) {
    for (const bool ascii : {false, true}) {
      PointWriteReport report;
      const PointTable table = mixed();
      const PointTable found = write_and_read(name, table, report, {ascii, {}});
      EXPECT_EQ(found.names, table.names) << name;
      EXPECT_EQ(found.columns, table.columns) << name;
      EXPECT_EQ(found.dtypes, table.dtypes) << name;
      EXPECT_EQ(report.written, table.names);
      EXPECT_EQ(report.rows, 3);
      EXPECT_TRUE(report.dropped.empty() && report.rounded.empty() && report.zero_filled.empty());
    }
  }
}

TEST(PointsWrite, WidensATypeThatDoesNotFit) {
  PointTable table = mixed();
  table.columns[4][0] = 256;  // no u8
  table.columns[5][0] = 0.1;  // no u32, and no f32
  table.dtypes[3] = DType::kF16;
  PointWriteReport report;
  const PointTable found = write_and_read("a.ply", table, report);
  EXPECT_EQ(found.columns, table.columns);
  EXPECT_EQ(found.dtypes[3], DType::kF32);
  EXPECT_EQ(found.dtypes[4], DType::kF32);
  EXPECT_EQ(found.dtypes[5], DType::kF64);
  table.dtypes.clear();
  EXPECT_EQ(write_and_read("a.pcd", table, report).columns, table.columns);
}

TEST(PointsWrite, KeepsNanInAscii) {
  PointTable table = mixed();
  table.columns[0] = {NAN, HUGE_VAL, -HUGE_VAL};
  PointWriteReport report;
  const PointTable found = write_and_read("a.ply", table, report, {true, {}});
  EXPECT_TRUE(std::isnan(found.columns[0][0]));
  EXPECT_EQ(found.columns[0][2], -HUGE_VAL);
}

TEST(PointsWrite, NpzKeepsNamesAndNpyDoesNot) {
  const PointTable table = mixed();
  PointWriteReport report;
  PointTable found = write_and_read("a.npz", table, report);
  EXPECT_EQ(found.names, table.names);
  EXPECT_EQ(found.columns, table.columns);
  EXPECT_EQ(found.dtypes[1], DType::kF64);  // one type for all, and 0.1 needs this one
  found = write_and_read("a.npy", table, report, {false, {"y", "z", "ring"}});
  EXPECT_EQ(found.names, (Names{"x", "y", "z"}));
  EXPECT_EQ(found.dtypes[0], DType::kF32);
  EXPECT_EQ(found.columns[2], table.columns[4]);
  EXPECT_EQ(report.written, (Names{"y", "z", "ring"}));
  EXPECT_EQ(names_of(report.dropped), (Names{"x", "intensity", "id"}));
}

TEST(PointsWrite, BinHasItsOwnColumns) {
  PointWriteReport report;
  PointTable table = mixed();
  PointTable found = write_and_read("a.bin", table, report);
  EXPECT_EQ(found.names, (Names{"x", "y", "z", "intensity"}));
  EXPECT_EQ(found.columns[0][0], static_cast<double>(0.1f));
  EXPECT_EQ(names_of(report.dropped), (Names{"ring", "id"}));
  EXPECT_EQ(names_of(report.rounded), Names{"x"});
  EXPECT_NE(report.rounded[0].why.find("1.5e-09"), std::string::npos) << report.rounded[0].why;

  found = write_and_read("sweep.PCD.bin", table, report);
  EXPECT_EQ(found.names, (Names{"x", "y", "z", "intensity", "ring"}));
  EXPECT_EQ(found.columns[4], table.columns[4]);
  EXPECT_EQ(names_of(report.dropped), Names{"id"});

  table.names[3] = "other";
  table.columns[1][1] = 1e300;
  found = write_and_read("a.bin", table, report);
  EXPECT_EQ(report.zero_filled, Names{"intensity"});
  EXPECT_EQ(found.columns[3], (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(found.columns[1][1], HUGE_VAL);
}

/// A table that format 3 holds wholly.
PointTable survey() {
  PointTable table;
  table.names = {"x",          "y",        "z",   "intensity", "return_number", "classification",
                 "scan_angle", "gps_time", "red", "green",     "blue",          "amplitude"};
  table.columns = {{635589.01, 638994.75},
                   {848886.45, 853535.43},
                   {406.59, 593.73},
                   {0, 65535},
                   {1, 7},
                   {2, 31},
                   {-90, 90},
                   {0.25, 1e9},
                   {0, 65535},
                   {1, 2},
                   {3, 4},
                   {5, 6}};
  return table;
}

TEST(PointsWrite, LasKeepsWhatItHolds) {
  PointTable table = survey();
  table.names.push_back("user_data");
  table.columns.push_back({1, 256});
  PointWriteReport report;
  const PointTable found = write_and_read("a.las", table, report);
  ASSERT_EQ(found.rows(), 2);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& column = found.columns[static_cast<std::size_t>(found.find(table.names[i]))];
    for (std::size_t row = 0; row < 2; ++row) EXPECT_NEAR(column[row], table.columns[i][row], 1e-5 / 2);
  }
  for (std::size_t i = 3; i < 11; ++i) {
    EXPECT_EQ(found.columns[static_cast<std::size_t>(found.find(table.names[i]))], table.columns[i])
        << table.names[i];
  }
  EXPECT_EQ(names_of(report.dropped), (Names{"user_data", "amplitude"}));
  EXPECT_EQ(report.dropped[0].why, "u8 is held, row 1 has 256");
  EXPECT_EQ(report.dropped[1].why, "no field of point format 3");
  EXPECT_EQ(report.rows_dropped, 0);
}

TEST(PointsWrite, LasLosesRowsThatAreNotFinite) {
  PointTable table = mixed();
  table.columns[2][1] = NAN;
  PointWriteReport report;
  const PointTable found = write_and_read("a.las", table, report);
  EXPECT_EQ(found.rows(), 2);
  EXPECT_EQ(report.rows_dropped, 1);
  EXPECT_NEAR(found.columns[0][1], 7, 1e-7);
  EXPECT_EQ(names_of(report.dropped), (Names{"intensity", "ring", "id"}));  // 0.5 is no whole number
}

TEST(PointsWrite, LasChoosesItsSteps) {
  for (const double size : {1e-6, 0.001, 1.0, 999.0, 1000.0, 1e7, 1e30}) {
    for (const double at : {0.0, -3.3, 1e5}) {
      PointTable table;
      table.names = {"x", "y", "z"};
      table.columns = {{at * size, at * size + size}, {0, size / 3}, {-size, 0}};
      PointWriteReport report;
      const PointTable found = write_and_read("a.las", table, report);
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t row = 0; row < 2; ++row) {
          EXPECT_NEAR(found.columns[i][row], table.columns[i][row], size * 1e-8)
              << size << " " << at << " " << i;
        }
      }
    }
  }
}

TEST(PointsWrite, WritesNoPoints) {
  PointTable table;
  table.names = {"x", "y", "z"};
  table.columns.resize(3);
  for (const char* name : {"a.ply", "a.pcd", "a.npy", "a.npz", "a.bin", "a.las"}) {
    PointWriteReport report;
    EXPECT_EQ(write_and_read(name, table, report).rows(), 0) << name;
  }
}

TEST(PointsWrite, RefusesWhatCannotBeWritten) {
  const ScratchFolder folder;
  const auto refuse = [&](const char* name, const PointTable& table, const PointWriteOptions& options,
                          std::string_view part) {
    try {
      write_points(folder / name, table, options);
      ADD_FAILURE() << "expected InvalidArgument with " << part;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  };
  PointTable table = mixed();
  refuse("a.txt", table, {}, ".bin .pcd .ply .las .npy .npz");
  refuse("a.npy", table, {true, {}}, ".npy has no ascii form");
  refuse("a.ply", table, {false, {"x", "w"}}, "there is no column w; there are x, y, z");
  refuse("a.ply", table, {false, {"x", "X"}}, "twice");
  table.names[2] = "height";
  refuse("a.las", table, {}, "there is no column z");
  refuse("a.bin", table, {}, "there is no column z");
  table.names[2] = "a b";
  refuse("a.ply", table, {}, "\"a b\" must be printable");
  table.names[2] = "Y";
  refuse("a.ply", table, {}, "column y is there twice");
  table.names[2] = "z";
  table.columns[2].pop_back();
  refuse("a.ply", table, {}, "column z has 2 rows, x has 3");
  table.columns.pop_back();
  refuse("a.ply", table, {}, "6 names, 6 dtypes and 5 columns");
  table = mixed();
  table.columns[0] = {-1.7e308, 1.7e308, 0};
  refuse("a.las", table, {}, "too wide for .las");
}

TEST(PointsWrite, CarriesSurveysThroughOtherFormats) {
  const auto path = shared_data("data/points/pdal/autzen-thin.las");
  if (!path) GTEST_SKIP() << "no autzen-thin.las under AEROGEL_SHARED";
  const PointTable table = read_points(*path);
  for (const char* name : {"a.ply", "a.pcd", "a.npz"}) {
    PointWriteReport report;
    const PointTable found = write_and_read(name, table, report);
    EXPECT_EQ(found.names, table.names) << name;
    EXPECT_EQ(found.columns, table.columns) << name;
  }
  PointWriteReport report;
  const PointTable found = write_and_read("a.las", table, report);
  EXPECT_TRUE(report.dropped.empty());
  EXPECT_EQ(found.names, table.names);
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    for (std::size_t row = 0; row < table.columns[i].size(); ++row) {
      ASSERT_NEAR(found.columns[i][row], table.columns[i][row], i < 3 ? 1e-5 : 0)
          << table.names[i] << " " << row;
    }
  }
}

}  // namespace
}  // namespace aerogel::io
