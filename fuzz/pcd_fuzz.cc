#include <cstdlib>

#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto table = aerogel::io::parse_pcd(fuzz_bytes(data, size), "fuzz");
    if (table.names.size() != table.columns.size()) std::abort();
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const std::string head =
      "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z _ rgb\nSIZE 4 8 2 1 4\nTYPE F F I U F\nCOUNT 1 1 1 2 2\n"
      "WIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ";
  // 48 bytes: one literal, a reference to it of 40, seven literals.
  const std::string packed("\x30\0\0\0\0a\xe0\x1f\0\6bcdefgh", 17);
  const std::string sizes("\x0d\0\0\0\x30\0\0\0", 8);
  return {head + "ascii\n1 2.5 -3 0 0 1e3 nan\n+4 inf 6 0 0 1 2\n", head + "binary\n" + std::string(48, 'a'),
          head + "binary_compressed\n" + sizes + packed.substr(4),
          "FIELDS x\nSIZE 1\nTYPE U\nPOINTS 3\nDATA binary\nabc"};
}
