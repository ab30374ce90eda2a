#include <cstdlib>
#include <cstring>

#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/las_header.h"
#include "io/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto table = aerogel::io::parse_las(fuzz_bytes(data, size), "fuzz");
    if (table.names.size() != table.columns.size()) std::abort();
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

namespace {

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// `points` points, with one record that describes four extra bytes in front of them or, extended, behind.
std::string las(int minor, int format, int points, bool extended) {
  const std::size_t head = minor == 4 ? 375 : minor == 3 ? 235 : 227;
  const auto record = static_cast<std::uint16_t>(aerogel::io::las_record_bytes(format) + 4);
  std::string bytes(head, '\0');
  bytes.replace(0, 4, "LASF");
  bytes[24] = 1;
  bytes[25] = static_cast<char>(minor);
  put(bytes, 94, static_cast<std::uint16_t>(head));
  bytes[104] = static_cast<char>(format);
  put(bytes, 105, record);
  put(bytes, 107, points);
  for (std::size_t axis = 0; axis < 3; ++axis) put(bytes, 131 + 8 * axis, 0.01);
  if (minor == 4) put(bytes, 247, static_cast<std::uint64_t>(points));
  std::string described(extended ? 60 : 54, '\0');
  described.replace(2, 9, "LASF_Spec");
  described[18] = 4;
  described[20] = static_cast<char>(192);
  described += std::string(
                   "\0\0\5\x18"
                   "height",
                   10) +
               std::string(182, '\0');
  const std::string body(record * static_cast<std::size_t>(points), 'p');
  put(bytes, 96, static_cast<std::uint32_t>(head + (extended ? 0 : described.size())));
  if (!extended) {
    bytes[100] = 1;
    return bytes + described + body;
  }
  put(bytes, 235, static_cast<std::uint64_t>(head + body.size()));
  bytes[243] = 1;
  return bytes + body + described;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {las(2, 0, 2, false), las(2, 3, 1, false), las(3, 5, 1, false), las(4, 7, 2, true),
          las(4, 10, 1, true)};
}
