#include <cstdlib>

#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aerogel::io;
  try {
    const auto tensors = parse_safetensors(fuzz_bytes(data, size), "fuzz");
    if (parse_safetensors(encode_safetensors(tensors), "again").size() != tensors.size()) std::abort();
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const auto file = [](std::string header, const std::string& data) {
    header.append((8 - header.size() % 8) % 8, ' ');
    return std::string{static_cast<char>(header.size())} + std::string(7, '\0') + header + data;
  };
  return {
      file("{}", ""),
      file(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}})",
           "abcd"),
      file(
          R"({"b":{"dtype":"BOOL","shape":[],"data_offsets":[8,9]},"c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})",
          "abcdefghi"),
      file(R"({"e":{"dtype":"BF16","shape":[0,3],"data_offsets":[0,0]}})", "")};
}
