// LZF, the compression inside .pcd files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aerogel::io {

/// A 3-byte back reference yields at most 264 bytes, so that no packed byte yields more than this.
inline constexpr std::uint64_t kLzfMaxRatio = 88;

/// Unpacks `packed` into exactly `size` bytes at `out`. Returns nothing, or the offset in `packed` of the
/// first instruction that runs out of its input, leaves the output or reaches before its beginning;
/// packed.size() if the output came out short.
///
///   source   the stream format of Marc Lehmann's LibLZF: 000LLLLL literals · LLLooooo oooooooo reference
std::optional<std::size_t> lzf_unpack(std::string_view packed, char* out, std::size_t size);

}  // namespace aerogel::io
