#include "io/zip.h"

#include <algorithm>
#include <limits>
#include <set>
#include <zlib.h>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "io/byte_reader.h"

namespace aerogel::io {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralEntry = 0x02014b50;
constexpr std::uint32_t kEndOfDirectory = 0x06054b50;
constexpr std::uint32_t kEndOfDirectory64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kLocatorBytes = 20;
constexpr std::uint64_t kEntryBytes = 46;
constexpr std::uint32_t kIn64 = 0xffffffff;       // the real value stands in the zip64 extra field
constexpr std::uint64_t kDeflateMaxRatio = 1032;  // zlib's technical details: 258 bytes from two bits

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

void expect_signature(ByteReader& reader, std::uint32_t signature, std::string_view what) {
  const std::uint64_t offset = reader.offset();
  const auto found = reader.little<std::uint32_t>(what);
  if (found != signature) {
    reader.fail_at(offset, fmt::format("expected {} ({:#010x}), found {:#010x}", what, signature, found));
  }
}

/// The end record is the last thing in the file but for a comment that it counts.
std::uint64_t find_end_record(std::string_view bytes, ByteReader& reader) {
  constexpr std::uint64_t kMaxComment = 65535;
  for (std::uint64_t comment = 0; comment <= kMaxComment && comment + kEndBytes <= bytes.size(); ++comment) {
    const std::uint64_t offset = bytes.size() - kEndBytes - comment;
    if (load<std::uint32_t>(bytes.data() + offset, std::endian::little) == kEndOfDirectory &&
        load<std::uint16_t>(bytes.data() + offset + 20, std::endian::little) == comment) {
      return offset;
    }
  }
  reader.fail_at(bytes.size(), "expected the end of a zip directory before this, found none");
}

Directory find_directory(std::string_view bytes, ByteReader& reader) {
  const std::uint64_t end = find_end_record(bytes, reader);
  reader.seek(end + 10, "the end of the directory");
  Directory directory;
  directory.entries = reader.little<std::uint16_t>("entries");
  directory.size = reader.little<std::uint32_t>("directory size");
  directory.offset = reader.little<std::uint32_t>("directory offset");
  std::uint64_t limit = end;
  if (directory.entries == 0xffff || directory.size == kIn64 || directory.offset == kIn64) {
    if (end < kLocatorBytes) reader.fail_at(end, "expected a zip64 locator before this, found none");
    reader.seek(end - kLocatorBytes, "a zip64 locator");
    expect_signature(reader, kLocator64, "a zip64 locator");
    reader.take(4, "disk number");
    limit = reader.little<std::uint64_t>("zip64 offset");
    reader.seek(limit, "the zip64 end of the directory");
    expect_signature(reader, kEndOfDirectory64, "the zip64 end of the directory");
    reader.take(28, "the zip64 end of the directory");
    directory.entries = reader.little<std::uint64_t>("entries");
    directory.size = reader.little<std::uint64_t>("directory size");
    directory.offset = reader.little<std::uint64_t>("directory offset");
  }
  if (directory.offset > limit || directory.size > limit - directory.offset) {
    reader.fail_at(end, fmt::format("expected a directory before byte {}, found a claim of {} bytes at {}",
                                    limit, directory.size, directory.offset));
  }
  if (directory.entries > directory.size / kEntryBytes) {
    reader.fail_at(end, fmt::format("expected at most {} entries in {} bytes, found a claim of {}",
                                    directory.size / kEntryBytes, directory.size, directory.entries));
  }
  return directory;
}

/// Replaces those of the three numbers that are kIn64 by the ones in the zip64 extra field.
void read_extra(std::string_view extra, const ByteReader& reader, ZipMember& member) {
  ByteReader fields(extra, reader.path());
  while (fields.remaining() >= 4) {
    const auto id = fields.little<std::uint16_t>("extra field");
    const auto length = fields.little<std::uint16_t>("extra field");
    if (length > fields.remaining()) break;
    ByteReader field(fields.take(length, "extra field"), reader.path());
    if (id != 1) continue;
    for (std::uint64_t* number : {&member.size, &member.packed_size, &member.begin}) {
      if (*number != kIn64) continue;
      if (field.remaining() < 8)
        reader.fail_at(member.entry, "expected 64-bit sizes in a zip64 field, found it too short");
      *number = field.little<std::uint64_t>("zip64 size");
    }
    return;
  }
}

ZipMember read_entry(ByteReader& reader) {
  ZipMember member;
  member.entry = reader.offset();
  expect_signature(reader, kCentralEntry, "a directory entry");
  reader.take(4, "versions");
  const auto flags = reader.little<std::uint16_t>("flags");
  const auto method = reader.little<std::uint16_t>("method");
  reader.take(4, "date");
  member.crc = reader.little<std::uint32_t>("CRC");
  member.packed_size = reader.little<std::uint32_t>("size");
  member.size = reader.little<std::uint32_t>("size");
  const auto name_length = reader.little<std::uint16_t>("name length");
  const auto extra_length = reader.little<std::uint16_t>("extra length");
  const auto comment_length = reader.little<std::uint16_t>("comment length");
  reader.take(8, "attributes");
  member.begin = reader.little<std::uint32_t>("offset");
  member.name = reader.take(name_length, "name");
  read_extra(reader.take(extra_length, "extra fields"), reader, member);
  reader.take(comment_length, "comment");
  if ((flags & 1) != 0)
    reader.fail_at(member.entry,
                   fmt::format("expected plain members, found {} encrypted", excerpt(member.name)));
  if (method != 0 && method != 8) {
    reader.fail_at(member.entry, fmt::format("expected {} stored (0) or deflated (8), found method {}",
                                             excerpt(member.name), method));
  }
  member.deflated = method == 8;
  const bool possible = member.deflated ? member.size / kDeflateMaxRatio <= member.packed_size
                                        : member.size == member.packed_size;
  if (!possible) {
    reader.fail_at(member.entry, fmt::format("expected a size that {} {} bytes can yield for {}, found {}",
                                             member.packed_size, member.deflated ? "deflated" : "stored",
                                             excerpt(member.name), member.size));
  }
  return member;
}

/// The sizes in a local header may be left to a descriptor behind the data, so only its lengths count.
void find_data(ByteReader& reader, ZipMember& member) {
  const std::uint64_t file_size = reader.offset() + reader.remaining();
  if (member.begin > file_size) {
    reader.fail_at(member.entry, fmt::format("expected {} inside the file of {} bytes, found it at byte {}",
                                             excerpt(member.name), file_size, member.begin));
  }
  reader.seek(member.begin, "a member");
  expect_signature(reader, kLocalHeader, "a member");
  reader.take(22, "a member's header");
  const auto name_length = reader.little<std::uint16_t>("name length");
  const auto extra_length = reader.little<std::uint16_t>("extra length");
  const std::uint64_t name_offset = reader.offset();
  const std::string_view name = reader.take(name_length, "name");
  if (name != member.name) {
    reader.fail_at(name_offset,
                   fmt::format("expected member {}, found {}", excerpt(member.name), excerpt(name)));
  }
  reader.take(extra_length, "extra fields");
  member.data = reader.offset();
  reader.take(member.packed_size, "member data");
}

/// Members that share bytes are how a small archive claims a huge content.
void check_disjoint(const ByteReader& reader, std::vector<ZipMember> members) {
  std::sort(members.begin(), members.end(),
            [](const ZipMember& a, const ZipMember& b) { return a.begin < b.begin; });
  std::uint64_t end = 0;
  for (const ZipMember& member : members) {
    if (member.begin < end) {
      reader.fail_at(member.entry, fmt::format("expected members apart, found {} at byte {} inside another",
                                               excerpt(member.name), member.begin));
    }
    end = member.data + member.packed_size;
  }
}

/// Inflates raw deflate data that must yield member.size bytes and then end, with its last byte used.
std::string inflate_exactly(std::string_view packed, const ZipMember& member, const std::string& path) {
  constexpr std::uint64_t kChunk = 1u << 30;  // zlib counts in unsigned int
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw OutOfMemory(0, -1, "cpu");
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } const end{&stream};
  std::string content(member.size + 1, '\0');  // one byte more, to see a stream that does not stop there
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::uint64_t in = std::min(kChunk, packed.size() - read);
    const std::uint64_t out = std::min(kChunk, content.size() - written);
    stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = static_cast<unsigned>(in);
    stream.next_out = reinterpret_cast<unsigned char*>(content.data() + written);
    stream.avail_out = static_cast<unsigned>(out);
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  if (status != Z_STREAM_END || written != member.size || read != packed.size()) {
    throw FormatError(
        path, static_cast<std::int64_t>(member.data + read),
        fmt::format("expected {} deflated bytes of {} to yield {} and end, found {} after {} ({})",
                    packed.size(), excerpt(member.name), member.size, written, read,
                    stream.msg != nullptr ? stream.msg : "no end"));
  }
  content.resize(member.size);
  return content;
}

}  // namespace

std::vector<ZipMember> list_zip(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const Directory directory = find_directory(bytes, reader);
  ByteReader entries(bytes.substr(0, directory.offset + directory.size), path);
  entries.seek(directory.offset, "the directory");
  std::vector<ZipMember> members;
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    ZipMember member = read_entry(entries);
    if (!names.insert(member.name).second) {
      reader.fail_at(member.entry,
                     fmt::format("expected distinct members, found {} twice", excerpt(member.name)));
    }
    find_data(reader, member);
    members.push_back(std::move(member));
  }
  check_disjoint(reader, members);
  return members;
}

std::string unpack_zip_member(std::string_view bytes, const ZipMember& member, const std::string& path) {
  const std::string_view packed = bytes.substr(member.data, member.packed_size);
  std::string content = member.deflated ? inflate_exactly(packed, member, path) : std::string(packed);
  const auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size()));
  if (crc != member.crc) {
    throw FormatError(path, static_cast<std::int64_t>(member.data),
                      fmt::format("expected {} to have CRC {:#010x}, found {:#010x}", excerpt(member.name),
                                  member.crc, crc));
  }
  return content;
}

}  // namespace aerogel::io
