#include "plan/choose.h"

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

ExecOptions on(Backend backend, std::string kernel = "") {
  ExecOptions exec;
  exec.backend = backend;
  exec.kernel = std::move(kernel);
  return exec;
}

Chosen<SparseConvArgs> choose_conv(DType dtype, const ExecOptions& exec) {
  SparseConvArgs args;
  args.problem.spec = KernelSpec::make(ConvKind::kSubmanifold, {3});
  args.problem.dtype = dtype;
  return choose<SparseConvArgs>("sparse_conv", "a problem", &KernelTables::sparse_conv, args, exec);
}

std::string refusal(DType dtype, const ExecOptions& exec) {
  try {
    choose_conv(dtype, exec);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::vector<Candidate> three(const char* a, const char* b, const char* c) {
  return {{"cpu/op/a/f32", false, a}, {"cpu/op/b/f32", false, b}, {"cpu/op/c/f32", false, c}};
}

TEST(Settle, TheFirstThatTakesItWins) {
  const Choice choice = settle("op", three("too wide", "", ""), on(Backend::kCpu));
  EXPECT_EQ(choice.index, 1);
  EXPECT_EQ(choice.candidates[0].reason, "too wide");
  EXPECT_FALSE(choice.candidates[0].chosen);
  EXPECT_TRUE(choice.candidates[1].chosen);
  EXPECT_FALSE(choice.candidates[2].chosen);
  EXPECT_NE(choice.candidates[2].reason.find("lower in the order"), std::string::npos);
}

TEST(Settle, NobodyTakesIt) {
  EXPECT_EQ(settle("op", three("no", "no", "no"), on(Backend::kCpu)).index, -1);
  EXPECT_EQ(settle("op", {}, on(Backend::kCpu)).index, -1);
}

TEST(Settle, AForcedKernelIsTheOnlyOne) {
  const Choice choice = settle("op", three("", "", ""), on(Backend::kCpu, "cpu/op/c/f32"));
  EXPECT_EQ(choice.index, 2);
  EXPECT_NE(choice.candidates[0].reason.find("not asked for"), std::string::npos);
  EXPECT_EQ(choice.candidates[2].reason, "forced by name");
}

TEST(Settle, AForcedKernelThatRefusesHasNoStandIn) {
  const Choice choice = settle("op", three("", "", "too wide"), on(Backend::kCpu, "cpu/op/c/f32"));
  EXPECT_EQ(choice.index, -1);
  EXPECT_EQ(choice.candidates[2].reason, "too wide");
}

TEST(Settle, AForcedNameOfAnotherOpIsLeftAlone) {
  EXPECT_EQ(settle("op", three("", "", ""), on(Backend::kCpu, "cpu/linear/packed_gemm/f32")).index, 0);
  EXPECT_THROW(settle("op", three("", "", ""), on(Backend::kCpu, "cpu/other/no_such/f32")), Unsupported);
}

TEST(Choose, TheCpuFallsBackOnTheReference) {
  const auto chosen = choose_conv(DType::kF64, on(Backend::kCpu));
  EXPECT_EQ(chosen.kernel->name, "reference/sparse_conv/pair_loop/float");
  for (const Candidate& candidate : chosen.candidates) {
    if (candidate.kernel == "cpu/sparse_conv/implicit_gemm/f32") {
      EXPECT_EQ(candidate.reason, "takes f32, not f64");
    }
  }
  EXPECT_EQ(choose_conv(DType::kF32, on(Backend::kCpu)).kernel->name, "cpu/sparse_conv/implicit_gemm/f32");
}

TEST(Choose, ARefusalListsEveryCandidateWithItsReason) {
  const std::string text = refusal(DType::kF64, on(Backend::kCpu, "cpu/sparse_conv/implicit_gemm/f32"));
  EXPECT_NE(text.find("[sparse_conv] no kernel of backend cpu takes a problem"), std::string::npos) << text;
  EXPECT_NE(text.find("cpu/sparse_conv/implicit_gemm/f32: takes f32, not f64"), std::string::npos) << text;
  EXPECT_NE(text.find("reference/sparse_conv/pair_loop/float: not asked for"), std::string::npos) << text;
}

TEST(Choose, OtherBackendsHaveNoStandIn) {
  EXPECT_NE(refusal(DType::kF32, on(Backend::kCuda)).find("not built"), std::string::npos);
  EXPECT_NE(refusal(DType::kF32, on(Backend::kReference, "cpu/sparse_conv/implicit_gemm/f32"))
                .find("not asked for"),
            std::string::npos)
      << "a forced kernel must be of the backend";
}

TEST(Choose, KeysPast63BitsGoToTheReference) {
  const std::int64_t wide = (1 << 15) + 1;  // four axes of 16 bits, though below 2^61 cells
  MapArgs args;
  args.in = Coordinates::create(Tensor::zeros({1, 5}, DType::kI32), {wide, wide, wide, wide}, 1);
  args.spec = KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3, 3});
  const auto chosen = choose<MapArgs>("build_kernel_map", "a problem", &KernelTables::build_kernel_map, args,
                                      on(Backend::kCpu));
  EXPECT_EQ(chosen.kernel->name, "reference/build_kernel_map/binary_search/i32");
  EXPECT_NE(chosen.candidates[0].reason.find("63"), std::string::npos) << chosen.candidates[0].reason;
}

}  // namespace
}  // namespace aerogel
