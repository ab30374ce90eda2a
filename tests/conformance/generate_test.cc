// The generator reaches what the conformance tests claim to cover.
#include "conformance/generate.h"

#include <set>
#include <tuple>

#include <fmt/core.h>

namespace aerogel::testing {
namespace {

TEST(Generate, EveryKindInEveryNumberOfDimensions) {
  std::set<std::tuple<ConvKind, int, bool>> reached;  // kind, ndim, whether some kernel axis is even
  std::set<std::tuple<ConvKind, int>> minkowski;      // kind, ndim
  bool output_padding = false;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {  // the least count of problems of the tests that draw
    Random random(seed);
    const KernelSpec spec = spec_of(ProblemString("drawn:" + random_geometry(random)));
    bool even = false;
    for (int axis = 0; axis < spec.ndim(); ++axis) {
      even = even || spec.kernel[axis] % 2 == 0;
      output_padding = output_padding || spec.output_padding[axis] > 0;
    }
    if (spec.sites == SiteRule::kMinkowski) minkowski.emplace(spec.kind, spec.ndim());
    reached.emplace(spec.kind, spec.ndim(), even);
  }
  for (int kind = 0; kind < 4; ++kind) {
    for (int ndim = 1; ndim <= kMaxNdim; ++ndim) {
      for (const bool even : {false, true}) {
        if (even && static_cast<ConvKind>(kind) == ConvKind::kSubmanifold) continue;
        EXPECT_TRUE(reached.count({static_cast<ConvKind>(kind), ndim, even}))
            << fmt::format("{} layers in {} dimensions, even kernels: {}",
                           conv_kind_name(static_cast<ConvKind>(kind)), ndim, even);
      }
    }
  }
  EXPECT_EQ(minkowski.size(), 3u * kMaxNdim) << "regular, transposed and inverse layers of that rule";
  EXPECT_TRUE(output_padding);
}

}  // namespace
}  // namespace aerogel::testing
