#include <limits>

#include "aerogel/ops/pooling.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const ConvOptions kHalf{{2}, {1}, {}, {}};  // coarse 0 reads fine 0, 1; coarse 1 reads 1, 3; coarse 2 reads 3

SparseTensor two_channels() { return line({-1, 2, -2, 4, -5, -6}); }

TEST(ByHand, RegularPools) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in = two_channels();
    const auto max_from = [&](MaxIdentity identity) {
      return values<float>(max_pool(in, {3}, kHalf, PoolSites::kRegular, identity, exec).features);
    };
    EXPECT_EQ(max_from(MaxIdentity::kNegativeInfinity), (Floats{-1, 4, -2, 4, -5, -6}));
    EXPECT_EQ(max_from(MaxIdentity::kZero), (Floats{0, 4, 0, 4, 0, 0}));
    const SparseTensor mean = avg_pool(in, {3}, kHalf, PoolSites::kRegular, exec);
    EXPECT_EQ(values<float>(mean.features), (Floats{-1.5, 3, -3.5, -1, -5, -6}));
    EXPECT_EQ(values<std::int32_t>(mean.coordinates.indices()), (Ints{0, 0, 0, 1, 0, 2}));
  });
}

TEST(ByHand, SubmanifoldPools) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in = two_channels();  // 0 and 1 see each other, 3 sees itself
    const auto most = max_pool(in, {3}, {}, PoolSites::kSubmanifold, MaxIdentity::kNegativeInfinity, exec);
    EXPECT_EQ(values<float>(most.features), (Floats{-1, 4, -1, 4, -5, -6}));
    const auto mean = avg_pool(in, {3}, {}, PoolSites::kSubmanifold, exec);
    EXPECT_EQ(values<float>(mean.features), (Floats{-1.5, 3, -1.5, 3, -5, -6}));
  });
}

TEST(ByHand, GlobalPoolsAndAnItemWithoutSites) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in{floats({3, 2}, {1, -8, -7, 2, 4, -3}), sites({2, 5, 0, 1, 2, 0}, {8}, 3)};
    EXPECT_EQ(values<float>(global_max_pool(in, exec)), (Floats{-7, 2, -kInf, -kInf, 4, -3}));
    EXPECT_EQ(values<float>(global_avg_pool(in, exec)), (Floats{-7, 2, 0, 0, 2.5, -5.5}));
  });
}

}  // namespace
}  // namespace aerogel
