#include "text.h"

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel::cli {
namespace {

TEST(Text, CountsHaveCommas) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(66035), "66,035");
  EXPECT_EQ(count_text(1234567890), "1,234,567,890");
  EXPECT_EQ(count_text(-999), "-999");
  EXPECT_EQ(count_text(-123456), "-123,456");
}

TEST(Text, BytesHaveBinaryUnits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(bytes_text(std::int64_t{1} << 60), "1048576.0 TiB");
}

TEST(Text, MetresHaveAsFewDigitsAsTellThem) {
  EXPECT_EQ(metres_text(0.15), "0.15");
  EXPECT_EQ(metres_text(70.4), "70.4");
  EXPECT_EQ(metres_text(-2), "-2");
}

TEST(Text, SplitsAtCommas) {
  EXPECT_EQ(split_commas("a, b ,c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(split_commas(""), (std::vector<std::string>{""}));
  EXPECT_EQ(split_commas("a,"), (std::vector<std::string>{"a", ""}));
}

TEST(Text, ParsesFiniteNumbersOnly) {
  EXPECT_EQ(parse_numbers("--n", "1,-2.5, 1e3", 3), (std::vector<double>{1, -2.5, 1000}));
  for (const char* text :
       {"", "1,2", "1,2,", "1,2,3,4", "1,2,x", "1,2,3m", "1,2,nan", "1,2,inf", "1,2,1e999"}) {
    try {
      parse_numbers("--n", text, 3);
      ADD_FAILURE() << text;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(std::string(error.what()).find("--n " + std::string(text)), 0u) << error.what();
    }
  }
}

TEST(Text, TablesLineUpByCharacters) {
  TextTable table;
  table.add_column("name", TextTable::Align::kLeft);
  table.add_column("count");
  table.add_row({"conv", "1"});
  table.add_row({"größer", "1,000"});
  table.add_row({"short row"});
  EXPECT_EQ(table.str(),
            "name       count\n"
            "conv           1\n"
            "größer     1,000\n"
            "short row\n");
  EXPECT_EQ(table.markdown(),
            "| name | count |\n"
            "|---|---:|\n"
            "| conv | 1 |\n"
            "| größer | 1,000 |\n"
            "| short row |  |\n");
}

}  // namespace
}  // namespace aerogel::cli
