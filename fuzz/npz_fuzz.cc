#include <cstdlib>
#include <zlib.h>

#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"
#include "io/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aerogel::io;
  try {
    // Whatever was unpacked packs again. The CRC seldom survives a mutation: the arrays have a target of
    // their own.
    const auto members = list_zip(fuzz_bytes(data, size), "fuzz");
    const auto tensors = parse_npz(fuzz_bytes(data, size), "fuzz");
    if (tensors.size() > members.size() || parse_npz(encode_npz(tensors), "again").size() != tensors.size())
      std::abort();
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  using namespace aerogel;
  const Tensor points = Tensor::zeros({50, 3}, DType::kF32);
  const auto number = [](std::uint64_t value, int width) {
    std::string bytes;
    for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
    return bytes;
  };
  // One deflated member with 32-bit sizes.
  const std::string content = io::encode_npy(points);
  std::string packed(compressBound(content.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(content.data()),
           content.size());
  packed = packed.substr(2, size - 6);  // without zlib's frame
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  const std::string common = number(20, 2) + number(0, 2) + number(8, 2) + number(0, 4) + number(crc, 4) +
                             number(packed.size(), 4) + number(content.size(), 4) + number(5, 2) +
                             number(0, 2);
  const std::string local = number(0x04034b50, 4) + common + "a.npy" + packed;
  const std::string entry = number(0x02014b50, 4) + number(20, 2) + common + std::string(14, '\0') + "a.npy";
  const std::string end = number(0x06054b50, 4) + number(0, 4) + number(1, 2) + number(1, 2) +
                          number(entry.size(), 4) + number(local.size(), 4) + number(0, 2);
  return {io::encode_npz({{"points", points}, {"other", Tensor::zeros({}, DType::kI64)}}), io::encode_npz({}),
          local + entry + end};
}
