#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"
#include "mesh_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check_mesh(aerogel::io::parse_obj(fuzz_bytes(data, size), "fuzz"));
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {
      "# a\nmtllib m\no n\nv 0 0 0\nv 1 0 0 1\nv 0 1.5e-3 nan\nvt 0 0\nvn 0 0 1\nf 1 2 3\nf 1/1 2/1/1 3//1\n",
      "v 0 0 0 1 1 1\r\nv 1 0 0 0 0 0\r\nv 1 1 0 0.5 0 1\r\nv 2 2 2 1 1 1 1\r\nf -1 -2 -3 -4\r\n"};
}
