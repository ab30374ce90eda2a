#include "aerogel/plan.h"

#include <set>

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

ConvProblem problem_of(const Dims& kernel) {
  ConvProblem problem;
  problem.spec = KernelSpec::make(ConvKind::kSubmanifold, kernel);
  problem.n_in = problem.n_out = 100;
  problem.pairs = 500;
  problem.c_in = problem.c_out = 16;
  return problem;
}

TEST(Plan, ExplainsEveryCandidate) {
  const Plan plan = plan_sparse_conv(problem_of({3, 3, 3}));
  EXPECT_EQ(plan.kernel, "cpu/sparse_conv/implicit_gemm/f32");
  int chosen = 0;
  for (const Candidate& candidate : plan.candidates) {
    EXPECT_FALSE(candidate.reason.empty());
    chosen += candidate.chosen;
    EXPECT_NE(plan.explain().find(candidate.kernel), std::string::npos);
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_GE(plan.candidates.size(), 2u);
}

TEST(Plan, APointwiseConvolutionIsALinearLayer) {
  EXPECT_EQ(plan_sparse_conv(problem_of({1, 1, 1})).kernel, "cpu/linear/packed_gemm/f32");
}

TEST(Plan, RefusesNegativeCounts) {
  for (std::int64_t ConvProblem::*count : {&ConvProblem::n_in, &ConvProblem::n_out, &ConvProblem::pairs,
                                           &ConvProblem::c_in, &ConvProblem::c_out}) {
    ConvProblem problem = problem_of({3, 3, 3});
    problem.*count = -1;
    EXPECT_THROW(plan_sparse_conv(problem), InvalidArgument);
    problem.*count = 0;
    EXPECT_NO_THROW(plan_sparse_conv(problem));
  }
}

TEST(Plan, AForcedKernelIsTakenOrRefused) {
  ExecOptions exec;
  exec.kernel = "reference/sparse_conv/pair_loop/float";
  EXPECT_EQ(plan_sparse_conv(problem_of({3}), exec).kernel, exec.kernel);
  EXPECT_NO_THROW(plan_sparse_conv(problem_of({1}), exec)) << "the name is of another op";
  exec.kernel = "cpu/sparse_conv/no_such/f32";
  EXPECT_THROW(plan_sparse_conv(problem_of({3}), exec), Unsupported);
  exec.kernel = "nonsense";
  EXPECT_THROW(plan_sparse_conv(problem_of({3}), exec), Unsupported);
}

TEST(Plan, AnAbsentBackendSaysWhy) {
  ExecOptions exec;
  exec.backend = Backend::kCuda;
  try {
    plan_sparse_conv(problem_of({3}), exec);
    FAIL();
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("not built"), std::string::npos) << error.what();
  }
}

TEST(Plan, KernelNamesAreDistinctAndWellFormed) {
  std::set<std::string> names;
  for (const KernelInfo& kernel : list_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_GE(std::count(kernel.name.begin(), kernel.name.end(), '/'), 3) << kernel.name;
    EXPECT_FALSE(kernel.description.empty()) << kernel.name;
  }
}

}  // namespace
}  // namespace aerogel
