// Every recorded case of the shared data on every available backend.
#include <gtest/gtest.h>

#include "aerogel/plan.h"

#include "nn/golden/case.h"
#include "shared_data.h"

namespace aerogel::nn::golden {
namespace {

std::vector<Case> shared_cases() {
  const auto root = shared_data("data/golden");
  return root ? find_cases(*root) : std::vector<Case>{};
}

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class Golden : public ::testing::TestWithParam<Case> {};

TEST_P(Golden, AgreesOnEveryBackend) {
  std::string skipped;
  for (const BackendInfo& info : list_backends()) {
    if (!info.available) continue;
    ExecOptions exec;
    exec.backend = info.backend;
    const Outcome outcome = run_case(GetParam(), exec);
    EXPECT_NE(outcome.status, Status::kFailed) << backend_name(info.backend) << ": " << outcome.reason;
    if (outcome.status == Status::kNotSupported) skipped = outcome.reason;
  }
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

INSTANTIATE_TEST_SUITE_P(Shared, Golden, ::testing::ValuesIn(shared_cases()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

TEST(GoldenData, IsThere) {
  if (!shared_data("data/golden"))
    GTEST_SKIP() << "data/golden is absent: set AEROGEL_SHARED to the shared folder";
  EXPECT_GE(shared_cases().size(), 21u);
}

}  // namespace
}  // namespace aerogel::nn::golden
