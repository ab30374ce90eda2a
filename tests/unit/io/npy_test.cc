#include "io_testing.h"
#include "shared_data.h"

namespace aerogel::io {
namespace {

std::string with_header(const std::string& header, const std::string& body = "", char major = 1) {
  std::string bytes = std::string("\x93NUMPY") + major + '\0';
  const auto size = static_cast<std::uint32_t>(header.size());
  bytes += major == 1 ? raw(static_cast<std::uint16_t>(size)) : raw(size);
  return bytes + header + body;
}
std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

TEST(Npy, ReadsWhatNumpyWrote) {
  // np.save(np.asfortranarray(np.arange(6, dtype='>i2').reshape(2, 3))), NumPy 2
  const Tensor fortran =
      parse_npy(from_hex("934e554d5059010076007b276465736372273a20273e6932272c2027666f727472616e5f6f726465722"
                         "73a20547275652c20277368"
                         "617065273a2028322c2033292c207d20202020202020202020202020202020202020202020202020202"
                         "0202020202020202020"
                         "20202020202020202020202020202020202020202020200a000000030001000400020005"),
                "bytes");
  EXPECT_EQ(fortran.str(), "i16 [2, 3]");
  EXPECT_EQ(values<std::int16_t>(fortran), (std::vector<std::int16_t>{0, 1, 2, 3, 4, 5}));
  // np.save(np.array([1.5, -2, np.inf], dtype='<f2'))
  const Tensor half = parse_npy(from_hex("934e554d5059010076007b276465736372273a20273c6632272c2027666f7274726"
                                         "16e5f6f72646572273a2046616c73652c20277368"
                                         "617065273a2028332c292c207d20202020202020202020202020202020202020202"
                                         "02020202020202020202020202020202020202020"
                                         "202020202020202020202020202020202020200a003e00c0007c"),
                                "bytes");
  EXPECT_EQ(half.str(), "f16 [3]");
  EXPECT_EQ(values<float>(half.slice_rows(0, 2).to(DType::kF32)), (std::vector<float>{1.5f, -2}));
}

TEST(Npy, ReadsAllVersionsAndSpellings) {
  for (char major : {'\1', '\2', '\3'}) {
    EXPECT_EQ(parse_npy(with_header(dict("'<i4'", "(2,)"), raw(7, 8), major), "bytes").str(), "i32 [2]");
  }
  EXPECT_EQ(
      parse_npy(with_header("{\"shape\":(2L,),\"fortran_order\":True,\"descr\":\"|u1\"}", "ab"), "bytes")
          .str(),
      "u8 [2]");
  EXPECT_EQ(parse_npy(with_header(dict("'=f8'", "()"), raw(1.0)), "bytes").numel(), 1);
  EXPECT_EQ(parse_npy(with_header(dict("'>f8'", "(0, 5)", "True")), "bytes").str(), "f64 [0, 5]");
  EXPECT_EQ(values<float>(
                parse_npy(with_header(dict("'>f4'", "(1,)"), std::string("\x3f\x80\0\0", 4)), "bytes"))[0],
            1.f);
}

TEST(Npy, BoolsBecomeZeroOrOne) {
  const Tensor flags = parse_npy(with_header(dict("'|b1'", "(3,)"), std::string("\0\1\x7f", 3)), "bytes");
  const auto* bytes = static_cast<const std::uint8_t*>(flags.raw());
  EXPECT_EQ(std::vector<std::uint8_t>(bytes, bytes + 3), (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(Npy, EveryDtypeAndShapeComesBack) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kI8, DType::kU8, DType::kI16, DType::kU16,
                      DType::kI32, DType::kU32, DType::kI64, DType::kU64, DType::kBool}) {
    for (const Dims& shape : {Dims{}, Dims{0}, Dims{5}, Dims{2, 3}, Dims{1, 2, 1, 2, 1, 2, 1, 3}}) {
      const Tensor tensor = Tensor::zeros(shape, dtype);
      for (std::int64_t i = 0; i < tensor.nbytes(); ++i)
        static_cast<char*>(tensor.raw())[i] = static_cast<char>(i & 1);
      const std::string bytes = encode_npy(tensor);
      EXPECT_EQ((bytes.size() - static_cast<std::size_t>(tensor.nbytes())) % 64, 0u);
      const Tensor back = parse_npy(bytes, "bytes");
      EXPECT_EQ(back.str(), tensor.str());
      EXPECT_EQ(std::memcmp(back.raw(), tensor.raw(), static_cast<std::size_t>(tensor.nbytes())), 0)
          << tensor.str();
    }
  }
}

TEST(Npy, PacksViews) {
  const int axes[] = {1, 0};
  const Tensor view =
      Tensor::from<std::int32_t>({2, 3}, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}).permute(axes);
  EXPECT_EQ(values<std::int32_t>(parse_npy(encode_npy(view), "bytes")),
            (std::vector<std::int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Npy, RefusesToWriteWhatNumpyLacks) {
  EXPECT_THROW(encode_npy(Tensor::zeros({1}, DType::kBF16)), InvalidArgument);
  EXPECT_THROW(encode_npy(Tensor()), InvalidArgument);
}

TEST(Npy, RefusesShapesThatAreNotTheBytes) {
  const auto expect_bad = [](const std::string& shape, const std::string& body) {
    const std::string head = with_header(dict("'<f4'", shape));
    const std::string bytes = with_header(dict("'<f4'", shape), body);
    expect_format_error([&] { parse_npy(bytes, "bytes"); }, static_cast<std::int64_t>(head.size()),
                        "found " + std::to_string(body.size()) + " bytes");
  };
  expect_bad("(2,)", "1234");
  expect_bad("(1,)", "12345678");
  expect_bad("(1000000000000, 3)", "1234");
  expect_bad("(4611686018427387904, 4)", "");  // 2^64 elements, which wrap to none
  expect_bad("(0, 4611686018427387904, 4)", "");
  expect_bad("(9223372036854775807,)", "");
}

TEST(Npy, RefusesBadHeaders) {
  const auto expect_bad = [](const std::string& header, std::int64_t offset, std::string_view part) {
    expect_format_error([&] { parse_npy(with_header(header), "bytes"); }, offset < 0 ? offset : 10 + offset,
                        part);
  };
  expect_format_error([] { parse_npy("NUMPY", "bytes"); }, 0, "found 5");
  expect_format_error([] { parse_npy("PK\3\4 and so on", "bytes"); }, 0, "expected the magic");
  expect_format_error([] { parse_npy(with_header("", "", 4), "bytes"); }, 6, "found 4");
  expect_format_error([] { parse_npy(std::string("\x93NUMPY\1\0\xff\xff{", 11), "bytes"); }, 10,
                      "65535 bytes of header");
  expect_bad("", 0, "expected '{'");
  expect_bad("{", 1, "found nothing");
  expect_bad("{'descr'", 8, "expected ':'");
  expect_bad("{'descr: ", 9, "quoted text");
  expect_bad("{'descr': '<f4'}", 0, "only some of them");
  expect_bad("{'descr': '<f4', 'descr': '<f4'}", 17, "once each");
  expect_bad("{'color': 1}", 1, "found \"color\"");
  expect_bad(dict("'<c8'", "()"), 10, "found \"<c8\"");
  expect_bad(dict("'|O'", "()"), 10, "found \"|O\"");
  expect_bad(dict("'|f4'", "()"), 10, "found \"|f4\"");
  expect_bad(dict("''", "()"), 10, "found nothing");
  expect_bad(dict("[('x', '<f4')]", "()"), 10, "structured dtype");
  expect_bad(dict("'<f4'", "(1,)", "Yes"), 34, "expected 'F'");
  expect_bad(dict("'<f4'", "(-1,)"), 51, "expected an extent");
  expect_bad(dict("'<f4'", "(9223372036854775808,)"), 51, "below 2^63");
  expect_bad(dict("'<f4'", "(1,1,1,1,1,1,1,1,1)"), 67, "at most 8 axes");
  expect_bad(dict("'<f4'", "(1 1)"), 53, "expected ','");
  expect_bad(dict("'<f4'", "()") + "x", 56, "expected the end of the header");
  expect_no_prefix(with_header(dict("'<f4'", "(1,)"), "1234"),
                   [](std::string_view bytes) { parse_npy(bytes, "bytes"); });
}

TEST(Npy, ReadsTheSharedFiles) {
  const auto folder = shared_data("data/golden/spconv");
  if (!folder) GTEST_SKIP() << "data/golden/spconv is absent; AEROGEL_SHARED names the folder of data";
  int read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() != ".npy") continue;
    EXPECT_TRUE(read_npy(entry.path()).defined()) << entry.path();
    ++read;
  }
  EXPECT_GT(read, 50);
}

}  // namespace
}  // namespace aerogel::io
