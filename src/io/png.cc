#include <limits>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/parsers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace aerogel::io {

std::string encode_png(const Tensor& rgb) {
  if (rgb.dtype() != DType::kU8 || rgb.shape().size() != 3 || rgb.size(2) != 3 || rgb.numel() == 0) {
    throw InvalidArgument(fmt::format("[write_png] expected u8 [H, W, 3] with H, W >= 1, got {}", rgb.str()));
  }
  // stb counts the filtered picture, and the deflated one that it grows by doubling, in int.
  if (rgb.numel() + rgb.size(0) > std::numeric_limits<int>::max() / 4) {
    throw InvalidArgument(
        fmt::format("[write_png] {} has too many pixels for a PNG of at most 2^29 bytes", rgb.str()));
  }
  const Tensor packed = rgb.contiguous();
  const int height = static_cast<int>(rgb.size(0));
  const int width = static_cast<int>(rgb.size(1));
  std::string bytes;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                               static_cast<std::size_t>(size));
  };
  if (stbi_write_png_to_func(append, &bytes, width, height, 3, packed.data<std::uint8_t>(), 3 * width) == 0) {
    throw OutOfMemory(packed.nbytes(), -1, "cpu");
  }
  return bytes;
}

void write_png(const Path& path, const Tensor& rgb) { write_file(path, encode_png(rgb)); }

}  // namespace aerogel::io
