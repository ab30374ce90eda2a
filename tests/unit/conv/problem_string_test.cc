#include "conv/problem_string.h"

#include <gtest/gtest.h>

#include "aerogel/conv.h"
#include "aerogel/error.h"

namespace aerogel {
namespace {

TEST(ProblemString, ReadsWhatAConvProblemPrints) {
  ConvProblem problem;
  problem.spec = KernelSpec::make(ConvKind::kTransposed, {3, 1}, {2, 2}, {1, 0}, {}, {1, 1});
  problem.n_in = 10;
  problem.n_out = 40;
  problem.pairs = 55;
  problem.c_in = 16;
  problem.c_out = 32;
  problem.bias = true;
  problem.activation = Activation::kRelu;
  const ProblemString parsed(problem.str());
  EXPECT_EQ(parsed.op(), "sparse_conv");
  EXPECT_EQ(parsed.dims("kernel"), (Dims{3, 1}));
  EXPECT_EQ(parsed.integer("pairs"), 55);
  EXPECT_EQ(parsed.text("epilogue"), "bias+relu");
  EXPECT_FALSE(parsed.has("groups"));
  problem.groups = 16;
  EXPECT_EQ(ProblemString(problem.str()).integer("groups"), 16);
  EXPECT_EQ(problem.flop(), 2.0 * 55 * 16 * 32 / 16);
  EXPECT_EQ(
      KernelSpec::make(parse_conv_kind(parsed.text("kind")), parsed.dims("kernel"), parsed.dims("stride"),
                       parsed.dims("padding"), parsed.dims("dilation"), parsed.dims("output_padding")),
      problem.spec);
}

TEST(ProblemString, NamesWhatIsWrong) {
  EXPECT_THROW(ProblemString(""), InvalidArgument);
  EXPECT_THROW(ProblemString("op:noequals"), InvalidArgument);
  const ProblemString problem("op:n=12x");
  EXPECT_THROW(static_cast<void>(problem.integer("n")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(problem.integer("m")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(problem.number("n")), InvalidArgument);
}

}  // namespace
}  // namespace aerogel
