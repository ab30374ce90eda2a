#include "io/lzf.h"

#include <cstring>

namespace aerogel::io {

std::optional<std::size_t> lzf_unpack(std::string_view packed, char* out, std::size_t size) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(packed[i]));
  };
  std::size_t in = 0;
  std::size_t filled = 0;
  while (in < packed.size()) {
    const std::size_t instruction = in;
    const std::size_t control = byte(in++);
    std::size_t length = control >> 5;
    if (length == 0) {  // control + 1 literals
      length = control + 1;
      if (length > packed.size() - in || length > size - filled) return instruction;
      std::memcpy(out + filled, packed.data() + in, length);
      in += length;
    } else {
      if (length == 7) {
        if (in == packed.size()) return instruction;
        length += byte(in++);
      }
      length += 2;
      if (in == packed.size()) return instruction;
      const std::size_t distance = ((control & 31) << 8 | byte(in++)) + 1;
      if (distance > filled || length > size - filled) return instruction;
      // The reference may overlap what it writes, so the copy goes byte by byte.
      for (std::size_t i = 0; i < length; ++i) out[filled + i] = out[filled + i - distance];
    }
    filled += length;
  }
  if (filled != size) return packed.size();
  return std::nullopt;
}

}  // namespace aerogel::io
