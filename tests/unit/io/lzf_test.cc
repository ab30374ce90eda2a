#include "io/lzf.h"

#include "io_testing.h"

namespace aerogel::io {
namespace {

std::optional<std::size_t> unpack(std::string_view packed, std::string& out) {
  return lzf_unpack(packed, out.data(), out.size());
}

TEST(Lzf, UnpacksLiteralsAndOverlappingReferences) {
  std::string out(14, '?');
  // "abc", then 11 bytes from three back: length 9 + 2 in the long form.
  EXPECT_EQ(unpack(std::string("\2abc\xe0\2\2", 7), out), std::nullopt);
  EXPECT_EQ(out, "abcabcabcabcab");
}

TEST(Lzf, TheLongestReferenceSetsTheRatio) {
  std::string out(1 + 264, '?');
  EXPECT_EQ(unpack(std::string("\0a\xe0\xff\0", 5), out), std::nullopt);
  EXPECT_EQ(out, std::string(265, 'a'));
  EXPECT_EQ(264 / 3, static_cast<int>(kLzfMaxRatio));
}

TEST(Lzf, RefusesBadInstructions) {
  std::string out(4, '?');
  EXPECT_EQ(unpack(std::string("\4ab", 3), out), 0u);       // more literals than input
  EXPECT_EQ(unpack(std::string("\1ab\0", 4), out), 3u);     // no literal behind the instruction
  EXPECT_EQ(unpack(std::string("\0a\x20\1", 4), out), 2u);  // reaches before the beginning
  EXPECT_EQ(unpack(std::string("\0a\x40\0", 4), out), 2u);  // leaves the output
  EXPECT_EQ(unpack(std::string("\0a\xe0", 3), out), 2u);    // no length
  EXPECT_EQ(unpack(std::string("\0a\x20", 3), out), 2u);    // no distance
  EXPECT_EQ(unpack(std::string("\4abcde", 6), out), 0u);    // literals leave the output
  EXPECT_EQ(unpack(std::string("\1ab", 3), out), 3u);       // comes out short
}

}  // namespace
}  // namespace aerogel::io
