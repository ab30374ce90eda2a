#include "bench_layers.h"

#include <gtest/gtest.h>

namespace aerogel::cli {
namespace {

TEST(BenchLayers, SplitsQuotedFields) {
  EXPECT_EQ(split_csv("a,b,,c"), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split_csv("\"x, y\",\"say \"\"so\"\"\",3\r"),
            (std::vector<std::string>{"x, y", "say \"so\"", "3"}));
  EXPECT_EQ(split_csv(""), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace aerogel::cli
