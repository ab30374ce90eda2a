#include <gtest/gtest.h>

#include "backend/cpu/conv_kernels.h"
#include "unit/backend/cpu/conv_cases.h"

namespace aerogel::cpu_test {
namespace {

void check(const Case& c, unsigned seed) {
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(c.str() + ":seed=" + std::to_string(seed) + ":target=" + target);
    Problem problem(c, true, seed);
    const Kernel<SparseConvArgs>& row = c.dtype == DType::kF16    ? cpu::kSparseConvImplicitGemmF16
                                        : c.dtype == DType::kBF16 ? cpu::kSparseConvImplicitGemmBf16
                                                                  : cpu::kSparseConvImplicitGemm;
    const std::vector<float> one = problem.run(row, 1);
    const std::vector<float> two = problem.run(row, 2);
    ASSERT_TRUE(same_bits(one, two)) << "threads change the bits";
    problem.judge(one);
  });
}

TEST(SparseConvImplicitGemm, EveryInputChannelCountUpToTwoLines) {
  for (std::int64_t c = 1; c <= 34; ++c) check({90, 130, 4, c, 17, 0.4, 0}, static_cast<unsigned>(c));
}

TEST(SparseConvImplicitGemm, EveryOutputChannelCountUpTo130) {
  for (std::int64_t c = 1; c <= 130; ++c) check({50, 40, 3, 5, c, 0.6, 1}, static_cast<unsigned>(c));
}

TEST(SparseConvImplicitGemm, SegmentsOfEveryLength) {
  for (std::int64_t n = 1; n <= 40; ++n) {
    for (std::int64_t c : {16, 32, 48, 64}) check({n + 3, n, 2, 16, c, 1.0, 0}, static_cast<unsigned>(n * c));
  }
}

TEST(SparseConvImplicitGemm, WideLayers) {
  check({300, 280, 4, 128, 128, 0.3, 31}, 1);
  check({300, 700, 5, 96, 130, 0.3, 3}, 2);
  check({64, 70, 3, 520, 200, 0.5, 0}, 3);
}

TEST(SparseConvImplicitGemm, ManyTilesAndOffsets) {
  check({5000, 9000, 27, 8, 16, 0.2, 17}, 1);
  check({2000, 1500, 343, 4, 3, 0.05, 0}, 2);
  check({100, 20000, 8, 3, 1, 0.1, 1}, 3);
}

TEST(SparseConvImplicitGemm, EveryEpilogue) {
  for (unsigned epilogue = 0; epilogue < 32; ++epilogue) {
    for (std::int64_t c : {16, 21}) check({60, 80, 3, 7, c, 0.5, epilogue}, epilogue);
  }
}

TEST(SparseConvImplicitGemm, NaNSurvivesTheActivationAndStaysInItsRows) {
  check({60, 80, 3, 20, 21, 0.5, 31, true}, 5);
}

TEST(SparseConvImplicitGemm, GroupsOfEveryWidth) {
  for (std::int64_t width : {1, 2, 5, 8, 16, 17, 33}) {
    for (std::int64_t groups : {2, 3, 8}) {
      check({60, 80, 3, width * groups, (width + 3) * groups, 0.5, 31, false, groups}, 7);
    }
  }
}

TEST(SparseConvImplicitGemm, HalfFeaturesOfEveryWidth) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (std::int64_t c : {1, 3, 8, 16, 17, 32, 100})
      check({60, 300, 4, c, c + 5, 0.7, 31, false, 1, dtype}, 8);
    check({700, 900, 3, 400, 9, 0.9, 0, false, 1, dtype},
          9);  // more pairs in a segment than are widened at once
    check({60, 80, 3, 24, 36, 0.5, 31, false, 4, dtype}, 10);
    check({60, 80, 3, 20, 21, 0.5, 31, true, 1, dtype}, 11);
    check({0, 10, 27, 4, 5, 0.5, 31, false, 1, dtype}, 12);
  }
}

TEST(SparseConvImplicitGemm, NothingToDo) {
  check({0, 0, 27, 4, 5, 0.5, 9}, 1);
  check({10, 0, 27, 4, 5, 0.5, 0}, 2);
  check({0, 10, 27, 4, 5, 0.5, 31}, 3);  // no pairs: the epilogue of zero
}

}  // namespace
}  // namespace aerogel::cpu_test
