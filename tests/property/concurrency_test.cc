// Eight threads on one coordinate set, one weight object and one network: right results, one build per map.
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "aerogel/nn.h"
#include "aerogel/ops/convolution.h"

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

TEST(Concurrency, VerbsShareSetsAndWeights) {
  Random random(11);
  const Coordinates sites = random_sites(random, {20, 20, 20}, 2, 700, false);
  const SparseTensor x{signed_tensor(random, {sites.size(), 16}), sites};
  const ConvWeight weight(signed_tensor(random, {32, 3, 3, 3, 16}));
  const ConvOptions halve{{2, 2, 2}, {1, 1, 1}, {}, {}};
  std::vector<Tensor> results(8);
  std::vector<std::thread> threads;
  for (Tensor& result : results) {
    threads.emplace_back([&] {
      ExecOptions exec;
      exec.threads = 2;
      static_cast<void>(subm_conv(x, weight, {}, {}, exec));
      result = sparse_conv(x, weight, halve, {}, exec).features;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sites.map_stats().builds, 2);
  for (const Tensor& result : results) expect_same_bits(result, results[0], "threads agree");
}

TEST(Concurrency, OneNetworkServesManyThreads) {
  Random random(12);
  const auto network = nn::make_network("unet3d");
  nn::init_weights(*network, 1);
  const Coordinates sites = random_sites(random, {16, 16, 16}, 1, 300, true);
  const SparseTensor x{signed_tensor(random, {sites.size(), 6}), sites};
  std::vector<Tensor> results(4);
  std::vector<std::thread> threads;
  for (Tensor& result : results) {
    threads.emplace_back([&] {
      nn::Context context;
      context.exec.threads = 2;
      result = network->forward(x, context).features;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& result : results) expect_same_bits(result, results[0], "threads agree");
}

}  // namespace
}  // namespace aerogel::testing
