#include <gtest/gtest.h>

#include "backend/cpu/conv_kernels.h"
#include "unit/backend/cpu/conv_cases.h"

namespace aerogel::cpu_test {
namespace {

TEST(SparseConvDepthwise, EveryChannelCountAndEpilogue) {
  for_each_target([&](const std::string& target) {
    for (std::int64_t c = 1; c <= 70; ++c) {
      for (const bool with_map : {true, false}) {
        const Case numbers{90,  with_map ? 700 : 90,           with_map ? 5 : 1, c, c,
                           0.4, static_cast<unsigned>(c) % 32, c % 7 == 0,       c};
        SCOPED_TRACE(numbers.str() + ":target=" + target);
        const Kernel<SparseConvArgs>& row = with_map ? cpu::kSparseConvDepthwise : cpu::kLinearDepthwise;
        Problem problem(numbers, with_map, static_cast<unsigned>(c));
        const std::vector<float> one = problem.run(row, 1);
        ASSERT_TRUE(same_bits(one, problem.run(row, 2))) << "threads change the bits";
        problem.judge(one);
      }
    }
  });
}

TEST(SparseConvDepthwise, TakesNothingElse) {
  const Problem problem({10, 10, 3, 8, 16, 0.5, 0, false, 8}, true, 1);
  EXPECT_NE(cpu::kSparseConvDepthwise.supports(problem.args), "");
}

}  // namespace
}  // namespace aerogel::cpu_test
