#include <cstdlib>

#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aerogel::io;
  try {
    const aerogel::Tensor tensor = parse_npy(fuzz_bytes(data, size), "fuzz");
    if (parse_npy(encode_npy(tensor), "again").str() != tensor.str()) std::abort();
    points_from_array(tensor, "fuzz", {});
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const auto array = [](char version, const std::string& text, const std::string& body) {
    const std::string length(version == 1 ? 1 : 3, '\0');
    return "\x93NUMPY" + std::string{version, '\0', static_cast<char>(text.size())} + length + text + body;
  };
  return {array(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", std::string(24, 'a')),
          array(2, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 1, 3), }\n", std::string(12, 'a')),
          array(3, "{\"shape\": (), \"descr\": \"|b1\", \"fortran_order\": False}", "a"),
          array(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0L, 4L)}", "")};
}
