#include <cstdlib>

#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto table = aerogel::io::parse_ply(fuzz_bytes(data, size), "fuzz");
    if (table.names.size() != table.columns.size()) std::abort();
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const std::string elements =
      "element camera 1\nproperty double view\nelement vertex 2\nproperty float x\n"
      "property list uchar short seen\nproperty uchar red\nelement face 1\n"
      "property list uint8 int32 vertex_indices\nend_header\n";
  const std::string body = std::string(8, 'v') + std::string("xxxx\2aabbr", 10) + std::string("yyyy\0g", 6) +
                           std::string("\1\0\0\0\0", 5);
  return {"ply\nformat ascii 1.0\ncomment c\n" + elements + "1.5\n1 2 3 4 255\n\n-1 0 nan\n3 0 1 0\n",
          "ply\nformat binary_little_endian 1.0\n" + elements + body,
          "ply\r\nformat binary_big_endian 1.0\r\nelement vertex 2\r\nproperty double y\r\nend_header\r\n" +
              std::string(16, 'd')};
}
