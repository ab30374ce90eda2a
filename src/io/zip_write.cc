// Stored members with zip64 fields throughout: one form for all sizes, which every reader of today takes.
#include <limits>
#include <zlib.h>

#include "aerogel/error.h"

#include "io/zip.h"

namespace aerogel::io {
namespace {

constexpr std::uint64_t kMovedTo64 = 0xffffffff;
constexpr std::uint64_t kNeedsZip64 = 45;

/// The low `width` bytes of `value`, at most eight.
void put(std::string& bytes, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
}

/// What a member's own header and its directory entry have in common: from the version to the lengths.
void put_common(std::string& bytes, const std::string& name, std::uint32_t crc, std::uint64_t extra_length) {
  put(bytes, kNeedsZip64, 2);
  put(bytes, 1u << 11, 2);     // the name is UTF-8
  put(bytes, 0, 2);            // stored
  put(bytes, 0x00210000u, 4);  // 1980-01-01 00:00
  put(bytes, crc, 4);
  put(bytes, kMovedTo64, 4);
  put(bytes, kMovedTo64, 4);
  put(bytes, name.size(), 2);
  put(bytes, extra_length, 2);
}

}  // namespace

std::string pack_zip(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string bytes;
  std::string directory;
  for (const auto& [name, content] : members) {
    if (name.size() > std::numeric_limits<std::uint16_t>::max()) {
      throw InvalidArgument("[write_npz] expected names below 64 KiB, got a longer one");
    }
    const auto crc = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size()));
    const std::uint64_t begin = bytes.size();
    put(bytes, 0x04034b50, 4);
    put_common(bytes, name, crc, 20);
    bytes += name;
    put(bytes, 1, 2);
    put(bytes, 16, 2);
    put(bytes, content.size(), 8);
    put(bytes, content.size(), 8);
    bytes += content;

    put(directory, 0x02014b50, 4);
    put(directory, kNeedsZip64, 2);
    put_common(directory, name, crc, 28);
    directory.append(2 + 2 + 2 + 4, '\0');  // no comment, first disk, no attributes
    put(directory, kMovedTo64, 4);
    directory += name;
    put(directory, 1, 2);
    put(directory, 24, 2);
    put(directory, content.size(), 8);
    put(directory, content.size(), 8);
    put(directory, begin, 8);
  }
  const std::uint64_t directory_at = bytes.size();
  bytes += directory;
  const std::uint64_t end64_at = bytes.size();
  put(bytes, 0x06064b50, 4);
  put(bytes, 44, 8);
  put(bytes, kNeedsZip64, 2);
  put(bytes, kNeedsZip64, 2);
  put(bytes, 0, 8);  // one disk
  put(bytes, members.size(), 8);
  put(bytes, members.size(), 8);
  put(bytes, directory.size(), 8);
  put(bytes, directory_at, 8);
  put(bytes, 0x07064b50, 4);
  put(bytes, 0, 4);
  put(bytes, end64_at, 8);
  put(bytes, 1, 4);
  put(bytes, 0x06054b50, 4);
  put(bytes, 0, 4);
  put(bytes, 0xffff, 2);
  put(bytes, 0xffff, 2);
  put(bytes, kMovedTo64, 4);
  put(bytes, kMovedTo64, 4);
  put(bytes, 0, 2);
  return bytes;
}

}  // namespace aerogel::io
