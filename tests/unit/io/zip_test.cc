#include "io/zip.h"

#include <zlib.h>

#include "io_testing.h"

namespace aerogel::io {
namespace {

/// A plain archive with 32-bit sizes and one member, each of whose numbers can be made to lie.
struct SmallZip {
  std::string name = "a.npy";
  std::string local_name = name;
  std::string packed = "hello";
  std::uint32_t size = 5;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::uint32_t crc = 0x3610a686;  // of "hello"
  std::uint32_t begin = 0;
  std::uint16_t entries = 1;
  int copies = 1;

  std::uint32_t packed_size() const { return static_cast<std::uint32_t>(packed.size()); }
  std::string local() const {
    return raw(0x04034b50, std::uint16_t{20}, flags, method, 0, crc) + raw(packed_size(), size) +
           raw(static_cast<std::uint16_t>(local_name.size()), std::uint16_t{0}) + local_name + packed;
  }
  std::string entry(const std::string& called) const {
    return raw(0x02014b50, 20, flags, method, 0, crc) + raw(packed_size(), size) +
           raw(static_cast<std::uint16_t>(called.size()), std::uint16_t{0}, std::uint16_t{0}) +
           std::string(8, '\0') + raw(begin) + called;
  }
  std::string bytes() const {
    std::string directory;
    for (int i = 0; i < copies; ++i) directory += entry(name);
    return local() + directory + end(directory.size());
  }
  std::string end(std::size_t directory_size) const {
    return raw(0x06054b50, 0, entries, entries, static_cast<std::uint32_t>(directory_size),
               static_cast<std::uint32_t>(local().size())) +
           std::string(2, '\0');
  }
};

std::string unpack(const std::string& bytes) {
  return unpack_zip_member(bytes, list_zip(bytes, "bytes").at(0), "bytes");
}

std::string deflated(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  std::string packed(content.size() + 100, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<unsigned>(content.size());
  stream.next_out = reinterpret_cast<unsigned char*>(packed.data());
  stream.avail_out = static_cast<unsigned>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

SmallZip deflated_zip(const std::string& content) {
  SmallZip zip;
  zip.packed = deflated(content);
  zip.size = static_cast<std::uint32_t>(content.size());
  zip.method = 8;
  zip.crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size()));
  return zip;
}

TEST(Zip, ReadsStoredAndDeflated) {
  EXPECT_EQ(unpack(SmallZip().bytes()), "hello");
  for (std::size_t size : {0, 1, 300, 100000}) {
    const std::string content(size, 'a');
    EXPECT_EQ(unpack(deflated_zip(content).bytes()), content);
  }
}

TEST(Zip, ReadsSizesFromTheDirectoryWhereADescriptorFollows) {
  SmallZip zip;
  zip.flags = 8;
  std::string local = zip.local();
  local.replace(14, 12, std::string(12, '\0'));  // CRC and sizes come behind the data
  const std::string descriptor = raw(0x08074b50, zip.crc, 5, 5);
  SmallZip end = zip;
  end.packed += std::string(descriptor.size(), ' ');
  EXPECT_EQ(unpack(local + descriptor + zip.entry(zip.name) + end.end(zip.entry(zip.name).size())), "hello");
}

TEST(Zip, AllowsAComment) {
  std::string bytes = SmallZip().bytes();
  bytes.replace(bytes.size() - 2, 2, std::string("\3\0", 2) + "hi!");
  EXPECT_EQ(unpack(bytes), "hello");
}

TEST(Zip, WritesZip64AndReadsItBack) {
  const std::vector<std::pair<std::string, std::string>> members = {
      {"a", "hello"}, {"b", ""}, {"c", std::string(99, 'c')}};
  const std::string bytes = pack_zip(members);
  const std::vector<ZipMember> listed = list_zip(bytes, "bytes");
  ASSERT_EQ(listed.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(listed[i].name, members[i].first);
    EXPECT_EQ(unpack_zip_member(bytes, listed[i], "bytes"), members[i].second);
  }
  EXPECT_EQ(bytes, pack_zip(members));
  EXPECT_TRUE(list_zip(pack_zip({}), "bytes").empty());
  expect_no_prefix(bytes, [](std::string_view prefix) { list_zip(prefix, "bytes"); });
}

TEST(Zip, RefusesLies) {
  const auto expect_bad = [](const SmallZip& zip, std::int64_t offset, std::string_view part) {
    expect_format_error([&] { unpack(zip.bytes()); }, offset, part);
  };
  SmallZip zip;
  const auto directory = static_cast<std::int64_t>(zip.local().size());
  const auto end = directory + static_cast<std::int64_t>(zip.entry(zip.name).size());
  zip.crc = 1;
  expect_bad(zip, 35, "CRC 0x00000001, found 0x3610a686");
  zip = SmallZip();
  zip.size = 6;
  expect_bad(zip, directory, "5 stored bytes can yield");
  zip = SmallZip();
  zip.method = 12;
  expect_bad(zip, directory, "found method 12");
  zip = SmallZip();
  zip.flags = 1;
  expect_bad(zip, directory, "encrypted");
  zip = SmallZip();
  zip.begin = 1;
  expect_bad(zip, 1, "expected a member (0x04034b50)");
  zip = SmallZip();
  zip.begin = 1000000;
  expect_bad(zip, directory, "found it at byte 1000000");
  zip = SmallZip();
  zip.local_name = "b.npy";
  expect_bad(zip, 30, "expected member \"a.npy\", found \"b.npy\"");
  zip = SmallZip();
  zip.entries = 2;
  expect_bad(zip, end, "at most 1 entries");
  zip = SmallZip();
  zip.entries = 2;
  zip.copies = 2;
  expect_bad(zip, end, "\"a.npy\" twice");
  zip = SmallZip();
  zip.entries = 0xffff;
  expect_bad(zip, end - 20, "expected a zip64 locator");
  expect_format_error([] { list_zip("not a zip at all, only text", "bytes"); }, 27,
                      "expected the end of a zip directory");
  expect_format_error([] { list_zip("", "bytes"); }, 0, "expected the end of a zip directory");
}

TEST(Zip, RefusesMembersThatShareBytes) {
  // Two entries, one member inside the other: how a small file claims a huge content.
  SmallZip inner;
  inner.name = inner.local_name = "inner";
  SmallZip outer;
  outer.packed = inner.local();
  outer.size = outer.packed_size();
  outer.crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(outer.packed.data()), outer.packed.size()));
  inner.begin = static_cast<std::uint32_t>(outer.local().size() - inner.local().size());
  outer.entries = 2;
  const std::string directory = outer.entry("a.npy") + inner.entry("inner");
  expect_format_error([&] { list_zip(outer.local() + directory + outer.end(directory.size()), "bytes"); },
                      static_cast<std::int64_t>(outer.local().size() + outer.entry("a.npy").size()),
                      "inside another");
}

TEST(Zip, RefusesDeflateLies) {
  const auto expect_bad = [](const SmallZip& zip, std::int64_t offset, std::string_view part) {
    expect_format_error([&] { unpack(zip.bytes()); }, offset, part);
  };
  SmallZip bomb = deflated_zip(std::string(1000, 'a'));
  bomb.size = 4000000000u;
  expect_bad(bomb, static_cast<std::int64_t>(bomb.local().size()), "deflated bytes can yield");
  for (std::uint32_t size : {999u, 1001u}) {
    SmallZip wrong = deflated_zip(std::string(1000, 'a'));
    wrong.size = size;
    expect_bad(wrong, 35 + wrong.packed_size(), "to yield " + std::to_string(size));
  }
  SmallZip longer = deflated_zip("hello");
  longer.packed += "!";
  expect_bad(longer, 35 + longer.packed_size() - 1, "found 5 after");
  SmallZip cut = deflated_zip("hello");
  cut.packed.pop_back();
  expect_bad(cut, 35 + cut.packed_size(), "(no end)");
  SmallZip garbage = deflated_zip("hello");
  garbage.packed[0] = '\x07';
  expect_bad(garbage, 36, "invalid block type");
}

}  // namespace
}  // namespace aerogel::io
