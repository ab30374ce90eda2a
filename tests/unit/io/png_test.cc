#include <zlib.h>

#include "io/numbers.h"
#include "io_testing.h"

namespace aerogel::io {
namespace {

TEST(Png, HoldsThePixels) {
  const std::vector<std::uint8_t> pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::string bytes = encode_png(Tensor::from<std::uint8_t>({2, 3, 3}, pixels));
  ASSERT_GT(bytes.size(), 45u);
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(load<std::uint32_t>(&bytes[16], std::endian::big), 3u);  // width
  EXPECT_EQ(load<std::uint32_t>(&bytes[20], std::endian::big), 2u);  // height
  EXPECT_EQ(bytes.substr(24, 2), std::string("\10\2", 2));           // 8 bits, RGB
  ASSERT_EQ(bytes.substr(37, 4), "IDAT");
  const auto length = load<std::uint32_t>(&bytes[33], std::endian::big);
  std::vector<std::uint8_t> rows(2 * 10);
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(&bytes[41]), length), Z_OK);
  ASSERT_EQ(size, rows.size());
  // The first row's filter leaves the first pixel as it is, whichever filter it is.
  EXPECT_EQ(std::vector<std::uint8_t>(rows.begin() + 1, rows.begin() + 4),
            (std::vector<std::uint8_t>{255, 0, 0}));
}

TEST(Png, RefusesOtherTensors) {
  EXPECT_THROW(encode_png(Tensor()), InvalidArgument);
  EXPECT_THROW(encode_png(Tensor::zeros({2, 2}, DType::kU8)), InvalidArgument);
  EXPECT_THROW(encode_png(Tensor::zeros({2, 2, 4}, DType::kU8)), InvalidArgument);
  EXPECT_THROW(encode_png(Tensor::zeros({2, 2, 3}, DType::kF32)), InvalidArgument);
  EXPECT_THROW(encode_png(Tensor::zeros({0, 2, 3}, DType::kU8)), InvalidArgument);
  std::uint8_t byte = 0;
  EXPECT_THROW(encode_png(Tensor::wrap(&byte, {1 << 15, 1 << 15, 3}, DType::kU8)), InvalidArgument);
}

TEST(Png, IsWrittenToAFile) {
  const ScratchFolder folder;
  write_png(folder / "a.png", Tensor::zeros({4, 4, 3}, DType::kU8));
  EXPECT_EQ(read_file(folder / "a.png"), encode_png(Tensor::zeros({4, 4, 3}, DType::kU8)));
  EXPECT_THROW(write_png(folder / "absent/a.png", Tensor::zeros({4, 4, 3}, DType::kU8)), DeviceError);
}

}  // namespace
}  // namespace aerogel::io
