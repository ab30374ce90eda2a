// The JSON header of a .safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aerogel/types.h"

namespace aerogel::io {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  ///< as written: "F32"
  Dims shape;
  std::uint64_t begin = 0;  ///< bytes, from the end of the header
  std::uint64_t end = 0;
};

/// The entries in the order of the header; `__metadata__` is passed over. Nothing is known yet about the
/// ranges. FormatError, its offsets counted from `base`: no JSON, nesting past 8, a key there twice, another
/// schema.
std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, const std::string& path,
                                                       std::uint64_t base);

}  // namespace aerogel::io
