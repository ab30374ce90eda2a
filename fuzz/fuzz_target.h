// What a fuzz target consists of: the entry that libFuzzer calls, and seeds to begin from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Valid inputs, one for each form that the parser knows.
std::vector<std::string> fuzz_seeds();

inline std::string_view fuzz_bytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
