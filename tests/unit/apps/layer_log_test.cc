// Chunks of a layer are one row; two ops of one name are two.
#include "layer_log.h"

#include <gtest/gtest.h>

namespace aerogel::cli {
namespace {

OpRecord op(const std::string& label, std::int64_t chunk, std::int64_t sites) {
  OpRecord record;
  record.label = label;
  record.op = "linear";
  record.chunk = chunk;
  record.sites_in = record.sites_out = sites;
  record.run_ms = 2;
  return record;
}

TEST(LayerLog, JoinsTheChunksOfALayer) {
  LayerLog log;
  for (std::int64_t chunk = 0; chunk < 3; ++chunk) {
    log.observe(op("mlp.0", chunk, chunk < 2 ? 100 : 50));
    log.observe(op("mlp.2", chunk, chunk < 2 ? 100 : 50));
  }
  log.observe(op("mlp.0", 0, 7));  // the next layer of that name
  log.observe(op("mlp.0", 1, 5));
  ASSERT_EQ(log.rows().size(), 3u);
  EXPECT_EQ(log.rows()[0].label, "mlp.0");
  EXPECT_EQ(log.rows()[0].sites_out, 250);
  EXPECT_EQ(log.rows()[0].chunks, 3);
  EXPECT_EQ(log.rows()[0].run_ms, 6);
  EXPECT_EQ(log.rows()[1].sites_out, 250);
  EXPECT_EQ(log.rows()[2].sites_out, 12);
  EXPECT_EQ(log.rows()[2].chunks, 2);
}

}  // namespace
}  // namespace aerogel::cli
