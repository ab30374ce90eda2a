#include <cstdlib>

#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto table = aerogel::io::parse_kitti_bin(fuzz_bytes(data, size), "fuzz", {});
    if (static_cast<std::size_t>(table.rows()) * 16 != size) std::abort();
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() { return {"", std::string(16, 'a'), std::string(320, '\0')}; }
