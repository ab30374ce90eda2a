#include <gtest/gtest.h>

#include "backend/cpu/conv_kernels.h"
#include "unit/backend/cpu/conv_cases.h"

namespace aerogel::cpu_test {
namespace {

void check(std::int64_t n, std::int64_t c_in, std::int64_t c_out, unsigned epilogue, bool nan = false) {
  const Case c{n, n, 1, c_in, c_out, 1.0, epilogue, nan};
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(c.str() + ":target=" + target);
    Problem problem(c, false, static_cast<unsigned>(n + 7 * c_in + 31 * c_out));
    const std::vector<float> one = problem.run(cpu::kLinearPackedGemm, 1);
    const std::vector<float> two = problem.run(cpu::kLinearPackedGemm, 2);
    ASSERT_TRUE(same_bits(one, two)) << "threads change the bits";
    problem.judge(one);
  });
}

TEST(LinearPackedGemm, EveryChannelCount) {
  for (std::int64_t c = 1; c <= 130; ++c) {
    check(37, c, 19, 1);
    check(37, 6, c, 0);
  }
}

TEST(LinearPackedGemm, EveryRowCount) {
  for (std::int64_t n = 0; n <= 70; ++n) check(n, 16, 16, 0);
  check(3000, 33, 64, 31);
  check(700, 256, 192, 3);
}

TEST(LinearPackedGemm, EveryEpilogue) {
  for (unsigned epilogue = 0; epilogue < 32; ++epilogue) check(40, 9, 21, epilogue);
}

TEST(LinearPackedGemm, NaNSurvivesTheActivation) { check(40, 9, 21, 31, true); }

}  // namespace
}  // namespace aerogel::cpu_test
