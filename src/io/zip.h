// Zip archives: listing, unpacking and storing members, with 64-bit sizes.
//   source   PKWARE APPNOTE 6.3.10
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aerogel::io {

struct ZipMember {
  std::string name;
  std::uint64_t entry = 0;  ///< where its entry in the central directory begins
  std::uint64_t begin = 0;  ///< where its header and data begin
  std::uint64_t data = 0;   ///< where its data begin
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  bool deflated = false;
};

/// The members in directory order: distinct names, disjoint ranges inside the file, sizes that their bytes
/// can yield.
std::vector<ZipMember> list_zip(std::string_view bytes, const std::string& path);

/// One member's contents, checked against its size and CRC.
std::string unpack_zip_member(std::string_view bytes, const ZipMember& member, const std::string& path);

/// An archive of stored members, dated 1980-01-01 so that equal contents make equal files.
std::string pack_zip(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace aerogel::io
