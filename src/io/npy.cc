// NumPy's array format.
//   source   https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include <fmt/core.h>

#include "aerogel/io.h"

#include "io/byte_reader.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr TypeCode kTypeCodes[] = {
    {"f4", DType::kF32}, {"f8", DType::kF64},  {"f2", DType::kF16}, {"i1", DType::kI8},  {"u1", DType::kU8},
    {"i2", DType::kI16}, {"u2", DType::kU16},  {"i4", DType::kI32}, {"u4", DType::kU32}, {"i8", DType::kI64},
    {"u8", DType::kU64}, {"b1", DType::kBool}, {"?", DType::kBool}};

struct Header {
  DType dtype = DType::kF32;
  std::endian order = std::endian::native;
  bool fortran = false;
  Dims shape;
};

/// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, the keys in any order.
class HeaderText {
 public:
  HeaderText(ByteReader& reader) : reader_(reader) {}

  Header parse() {
    reader_.skip(' ');
    const std::uint64_t begin = reader_.offset();
    reader_.expect('{');
    for (reader_.skip(' '); reader_.peek() != '}'; reader_.skip(' ')) {
      entry();
      reader_.skip(' ');
      if (reader_.peek() != '}') reader_.expect(',');
    }
    reader_.expect('}');
    reader_.skip(' ');
    if (reader_.peek() == '\n') reader_.expect('\n');
    if (!reader_.at_end()) reader_.fail("expected the end of the header, found more");
    if (!has_descr_ || !has_order_ || !has_shape_) {
      reader_.fail_at(begin, "expected the keys descr, fortran_order and shape, found only some of them");
    }
    return header_;
  }

 private:
  void entry() {
    const std::uint64_t offset = reader_.offset();
    const std::string key = text();
    reader_.skip(' ');
    reader_.expect(':');
    reader_.skip(' ');
    if (key == "descr" && !has_descr_) {
      has_descr_ = true;
      descr();
    } else if (key == "fortran_order" && !has_order_) {
      has_order_ = true;
      header_.fortran = reader_.peek() == 'T';
      for (char c : std::string_view(header_.fortran ? "True" : "False")) reader_.expect(c);
    } else if (key == "shape" && !has_shape_) {
      has_shape_ = true;
      shape();
    } else {
      reader_.fail_at(
          offset, fmt::format("expected descr, fortran_order and shape once each, found {}", excerpt(key)));
    }
  }

  std::string text() {
    const char quote = reader_.peek() == '"' ? '"' : '\'';
    reader_.expect(quote);
    std::string found;
    while (reader_.peek() != quote) found += reader_.take(1, "quoted text");
    reader_.expect(quote);
    return found;
  }

  void descr() {
    const std::uint64_t offset = reader_.offset();
    if (reader_.peek() == '[') reader_.fail("expected one number per element, found a structured dtype");
    const std::string found = text();
    std::string_view code = found;
    const char order = code.empty() ? '\0' : code[0];
    if (order == '<' || order == '>' || order == '=' || order == '|') code.remove_prefix(1);
    const auto known = std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes),
                                    [&](const TypeCode& type) { return type.code == code; });
    if (known == std::end(kTypeCodes) || (order == '|' && itemsize(known->dtype) > 1)) {
      reader_.fail_at(offset, fmt::format("expected a dtype f2 to f8, i1 to i8, u1 to u8 or b1, found {}",
                                          excerpt(found)));
    }
    header_.dtype = known->dtype;
    if (order == '<') header_.order = std::endian::little;
    if (order == '>') header_.order = std::endian::big;
  }

  void shape() {
    reader_.expect('(');
    for (reader_.skip(' '); reader_.peek() != ')'; reader_.skip(' ')) {
      const std::uint64_t offset = reader_.offset();
      std::string digits;
      while (reader_.peek() >= '0' && reader_.peek() <= '9') digits += reader_.take(1, "a number");
      std::uint64_t extent = 0;
      if (!parse_count(digits, extent)) {
        reader_.fail_at(offset, fmt::format("expected an extent below 2^63, found {}", excerpt(digits)));
      }
      if (reader_.peek() == 'L') reader_.expect('L');  // Python 2 wrote its long integers so
      if (header_.shape.size() == Dims::kCapacity) {
        reader_.fail_at(offset, fmt::format("expected at most {} axes, found more", Dims::kCapacity));
      }
      header_.shape.push_back(static_cast<std::int64_t>(extent));
      reader_.skip(' ');
      if (reader_.peek() != ')') reader_.expect(',');
    }
    reader_.expect(')');
  }

  ByteReader& reader_;
  Header header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

Header read_header(ByteReader& reader, std::string_view bytes) {
  const std::string_view magic = reader.take(kMagic.size(), "a NumPy magic");
  if (magic != kMagic)
    reader.fail_at(0, fmt::format("expected the magic \\x93NUMPY, found {}", excerpt(magic)));
  const int major = static_cast<unsigned char>(reader.take(2, "a version")[0]);
  if (major < 1 || major > 3) {
    reader.fail_at(kMagic.size(), fmt::format("expected .npy version 1, 2 or 3, found {}", major));
  }
  const std::uint64_t length = major == 1 ? reader.little<std::uint16_t>("the header length")
                                          : reader.little<std::uint32_t>("the header length");
  const std::uint64_t begin = reader.offset();
  reader.take(length, "header");
  ByteReader text(bytes.substr(0, begin + length), reader.path());
  text.seek(begin, "the header");
  return HeaderText(text).parse();
}

/// Axes in reverse: a Fortran-ordered array is the transpose of a C-ordered one.
Tensor transpose(const Tensor& tensor) {
  std::vector<int> axes(static_cast<std::size_t>(tensor.shape().size()));
  std::iota(axes.rbegin(), axes.rend(), 0);
  return tensor.permute(axes).contiguous();
}

}  // namespace

Tensor parse_npy(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const Header header = read_header(reader, bytes);
  const std::int64_t size = array_bytes(header.shape, header.dtype);
  if (size < 0 || static_cast<std::uint64_t>(size) != reader.remaining()) {
    reader.fail(fmt::format("expected the bytes of {} {}, found {} bytes", dtype_name(header.dtype),
                            header.shape.str(), reader.remaining()));
  }
  Dims stored = header.shape;
  if (header.fortran) std::reverse(&stored[0], &stored[0] + stored.size());
  const Tensor tensor = Tensor::empty(stored, header.dtype);
  if (size == 0) return tensor.reshape(header.shape);
  auto* data = static_cast<char*>(tensor.raw());
  std::memcpy(data, reader.take(static_cast<std::uint64_t>(size), "array").data(),
              static_cast<std::size_t>(size));
  const auto count = static_cast<std::size_t>(tensor.numel());
  if (header.order != std::endian::native) swap_bytes(data, itemsize(header.dtype), count);
  if (header.dtype == DType::kBool) normalize_bools(reinterpret_cast<std::uint8_t*>(data), count);
  return header.fortran ? transpose(tensor) : tensor;
}

std::string encode_npy(const Tensor& tensor) {
  const auto known = std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes),
                                  [&](const TypeCode& type) { return type.dtype == tensor.dtype(); });
  if (!tensor.defined() || known == std::end(kTypeCodes)) {
    throw InvalidArgument(
        fmt::format("[write_npy] expected a tensor of a dtype that NumPy has, got {}", tensor.str()));
  }
  std::string shape;
  for (std::int64_t extent : tensor.shape()) shape += fmt::format("{},", extent);
  const char order = itemsize(tensor.dtype()) == 1                ? '|'
                     : std::endian::native == std::endian::little ? '<'
                                                                  : '>';
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, known->code, shape);
  // Version 1 counts the header in 16 bits, which eight extents never fill. The data begins at a multiple
  // of 64.
  const std::size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  const Tensor packed = tensor.contiguous();
  if (packed.nbytes() > 0)
    bytes.append(static_cast<const char*>(packed.raw()), static_cast<std::size_t>(packed.nbytes()));
  return bytes;
}

Tensor read_npy(const Path& path) { return parse_npy(read_file(path), path.string()); }

void write_npy(const Path& path, const Tensor& tensor) { write_file(path, encode_npy(tensor)); }

}  // namespace aerogel::io
