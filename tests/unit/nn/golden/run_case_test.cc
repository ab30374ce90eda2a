#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "aerogel/io.h"

#include "nn/golden/case.h"

namespace aerogel::nn::golden {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that is removed again.
class CaseFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / ("aerogel_case_" + std::string(info->name()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "one");
  }
  void TearDown() override { fs::remove_all(root_); }

  /// from_dense of a [1, 2, 1] grid with one site.
  void write_case(float recorded) {
    io::write_npy(root_ / "one/dense.npy", Tensor::from<float>({1, 2, 1}, std::vector<float>{0, 3}));
    io::write_npy(root_ / "one/indices.npy",
                  Tensor::from<std::int32_t>({1, 2}, std::vector<std::int32_t>{0, 1}));
    io::write_npy(root_ / "one/features.npy", Tensor::from<float>({1, 1}, std::vector<float>{recorded}));
    io::write_file(root_ / "one/case.json", R"({"id": "tiny", "kind": "from_dense",
      "dense": {"npy": "dense.npy", "dtype": "float32", "shape": [1, 2, 1]},
      "expect": {"indices": {"npy": "indices.npy", "dtype": "int32", "shape": [1, 2]},
                 "features": {"npy": "features.npy", "dtype": "float32", "shape": [1, 1]},
                 "spatial_shape": [2], "batch_size": 1}})");
  }

  Outcome run() const {
    const std::vector<Case> cases = find_cases(root_);
    EXPECT_EQ(cases.size(), 1u);
    EXPECT_EQ(cases.at(0).name, "one");
    ExecOptions exec;
    exec.backend = Backend::kReference;
    return run_case(cases.at(0), exec);
  }

  fs::path root_;
};

TEST_F(CaseFolder, PassesWhatAgrees) {
  write_case(3);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kPassed) << outcome.reason;
  ASSERT_NE(outcome.worst(), nullptr);
  EXPECT_EQ(outcome.worst()->rule, "relative L2");
}

TEST_F(CaseFolder, FailsWhatDiffers) {
  write_case(3.0001F);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kFailed);
  EXPECT_NE(outcome.reason.find("features: relative L2 error"), std::string::npos) << outcome.reason;
}

TEST_F(CaseFolder, FailsOnNan) {
  write_case(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(run().status, Status::kFailed);
}

TEST(Outcome, ANanIsTheWorstMeasureWhereverItStands) {
  const Measure right{"right", "atol", 0, 0, 1};
  const Measure lost{"lost", "atol", std::nan(""), std::nan(""), 1};
  for (const std::vector<Measure>& measures :
       {std::vector<Measure>{lost, right, right}, std::vector<Measure>{right, lost, right}}) {
    Outcome outcome;
    outcome.measures = measures;
    EXPECT_EQ(outcome.worst()->name, "lost");
  }
}

TEST_F(CaseFolder, FailsOnAMissingArray) {
  write_case(3);
  fs::remove(root_ / "one/features.npy");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kFailed);
  EXPECT_NE(outcome.reason.find("features.npy"), std::string::npos) << outcome.reason;
}

TEST_F(CaseFolder, FailsOnAnotherShapeThanDeclared) {
  write_case(3);
  io::write_npy(root_ / "one/features.npy", Tensor::zeros({2, 1}, DType::kF32));
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kFailed);
  EXPECT_NE(outcome.reason.find("case.json says f32 [1, 1], the file has f32 [2, 1]"), std::string::npos)
      << outcome.reason;
}

TEST_F(CaseFolder, FailsOnBrokenJson) {
  io::write_file(root_ / "one/case.json", "{\"kind\": ");
  EXPECT_EQ(run().status, Status::kFailed);
  io::write_file(root_ / "one/case.json", "{}");
  EXPECT_EQ(run().status, Status::kFailed);
}

TEST_F(CaseFolder, SaysWhichFieldIsWrong) {
  const std::string array = R"({"npy": "dense.npy", "dtype": "float32", "shape": )";
  const std::pair<std::string, std::string> wrong[] = {
      {R"({"kind": 3})", "case.json: kind: expected a text, found the number 3"},
      {R"({"id": "x"})", "case.json: the whole: expected the field kind, found id"},
      {R"([1, 2])", "case.json: the whole: expected an object with the field kind, found a list of 2"},
      {R"({"kind": "from_dense", "expect": {}, "dense": [1]})",
       "case.json: dense: expected an object with the field npy, found a list of 1"},
      {R"({"kind": "from_dense", "expect": {}, "dense": )" + array + R"([1, "x"]}})",
       "case.json: dense.shape[1]: expected an integer, found the text \"x\""},
      {R"({"kind": "from_dense", "expect": {}, "dense": )" + array + R"([1, 2.5]}})",
       "case.json: dense.shape[1]: expected an integer, found the number 2.5"},
      {R"({"kind": "from_dense", "expect": {}, "dense": )" + array + R"([18446744073709551615]}})",
       "case.json: dense.shape[0]: expected an integer, found the number 18446744073709551615"},
      {R"({"kind": )", "case.json: byte 9: expected JSON, found the end of the file"},
      {R"({"kind" 3})", "case.json: byte 8: expected JSON, found '3'"},
      {R"({"kind": 1e999})", "case.json: "},
  };
  write_case(3);
  for (const auto& [json, text] : wrong) {
    io::write_file(root_ / "one/case.json", json);
    const Outcome outcome = run();
    EXPECT_EQ(outcome.status, Status::kFailed);
    EXPECT_NE(outcome.reason.find(text), std::string::npos) << json << "\n" << outcome.reason;
    EXPECT_EQ(outcome.reason.find("json.exception"), std::string::npos) << outcome.reason;
  }
}

TEST_F(CaseFolder, SaysThatAutocastWasComputedInF32) {
  write_case(3);
  io::write_file(root_ / "one/case.json", R"({"kind": "autocast", "layers": [{"cls": "nn.Identity"}],
    "input": {"features": {"npy": "features.npy", "dtype": "float32", "shape": [1, 1]},
              "indices": {"npy": "indices.npy", "dtype": "int32", "shape": [1, 2]},
              "spatial_shape": [2], "batch_size": 1},
    "expect": {"out_features": {"npy": "features.npy", "dtype": "float32", "shape": [1, 1]},
               "out_indices": {"npy": "indices.npy", "dtype": "int32", "shape": [1, 2]}, "atol_out": 0.1}})");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kPassed) << outcome.reason;
  ASSERT_EQ(outcome.remarks.size(), 1u);
  EXPECT_NE(outcome.remarks[0].find("computed in f32"), std::string::npos);
}

TEST_F(CaseFolder, DoesNotReadOutsideTheFolder) {
  io::write_file(root_ / "one/case.json", R"({"kind": "from_dense", "expect": {},
    "dense": {"npy": "../dense.npy", "dtype": "float32", "shape": [1]}})");
  EXPECT_NE(run().reason.find("is not a file name"), std::string::npos);
}

TEST_F(CaseFolder, NamesKindsThatAreNotRun) {
  io::write_file(root_ / "one/case.json", R"({"kind": "p2v_gpu_canon"})");
  EXPECT_EQ(run().status, Status::kNotSupported);
}

}  // namespace
}  // namespace aerogel::nn::golden
