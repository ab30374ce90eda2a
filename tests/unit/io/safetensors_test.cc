#include "io/numbers.h"
#include "io_testing.h"

namespace aerogel::io {
namespace {

// safetensors.numpy.save({'w': f16 [[0, 1], [2, 3]], 'b': [True, False], 's': int64 7}, metadata={'format':
// 'np'})
const std::string kWritten = from_hex(
    "c8000000000000007b225f5f6d657461646174615f5f223a7b22666f726d6174223a226e70227d2c2273223a7b22647479706522"
    "3a22493634222c"
    "227368617065223a5b5d2c22646174615f6f666673657473223a5b302c385d7d2c2277223a7b226474797065223a22463136222c"
    "22736861706522"
    "3a5b322c325d2c22646174615f6f666673657473223a5b382c31365d7d2c2262223a7b226474797065223a22424f4f4c222c2273"
    "68617065223a5b"
    "325d2c22646174615f6f666673657473223a5b31362c31385d7d7d2020202007000000000000000000003c004000420100");

std::string with_header(const std::string& header, const std::string& data = "") {
  return raw(static_cast<std::uint64_t>(header.size())) + header + data;
}
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& range) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
         range + "]}";
}

TEST(Safetensors, ReadsWhatTheOriginalWrote) {
  const auto tensors = parse_safetensors(kWritten, "bytes");
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors.at("s").str(), "i64 []");
  EXPECT_EQ(tensors.at("s").data<std::int64_t>()[0], 7);
  EXPECT_EQ(tensors.at("w").str(), "f16 [2, 2]");
  EXPECT_EQ(tensors.at("w").to(DType::kF32).data<float>()[3], 3);
  EXPECT_EQ(tensors.at("b").str(), "bool [2]");
  expect_no_prefix(kWritten, [](std::string_view bytes) { parse_safetensors(bytes, "bytes"); });
}

TEST(Safetensors, EveryDtypeComesBackAligned) {
  std::map<std::string, Tensor> tensors;
  for (DType dtype :
       {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kU8, DType::kI16, DType::kU16,
        DType::kI32, DType::kU32, DType::kI64, DType::kU64, DType::kBool}) {
    const Tensor tensor = Tensor::zeros({3}, dtype);
    for (std::int64_t i = 0; i < tensor.nbytes(); ++i)
      static_cast<char*>(tensor.raw())[i] = static_cast<char>(i & 1);
    tensors.emplace(dtype_name(dtype), tensor);
  }
  tensors.emplace("empty", Tensor::zeros({0, 7}, DType::kF32));
  tensors.emplace("scalar \"quoted\" ü", Tensor::zeros({}, DType::kF32));
  const std::string bytes = encode_safetensors(tensors);
  const auto back = parse_safetensors(bytes, "bytes");
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(back.at(name).str(), tensor.str());
    EXPECT_EQ(std::memcmp(back.at(name).raw(), tensor.raw(), static_cast<std::size_t>(tensor.nbytes())), 0)
        << name;
  }
  EXPECT_EQ(load<std::uint64_t>(bytes.data(), std::endian::little) % 8, 0u);
  EXPECT_TRUE(parse_safetensors(encode_safetensors({}), "bytes").empty());
}

TEST(Safetensors, RefusesToWriteBadNames) {
  const Tensor tensor = Tensor::zeros({1}, DType::kF32);
  EXPECT_THROW(encode_safetensors({{"__metadata__", tensor}}), InvalidArgument);
  EXPECT_THROW(encode_safetensors({{"\xff", tensor}}), InvalidArgument);
  EXPECT_THROW(encode_safetensors({{"a", Tensor()}}), InvalidArgument);
}

TEST(Safetensors, RefusesLyingLengths) {
  expect_format_error([] { parse_safetensors("1234567", "bytes"); }, 0,
                      "8 bytes of the header length, found 7");
  expect_format_error([] { parse_safetensors(raw(std::uint64_t{3}) + "{}", "bytes"); }, 0, "at most 2 bytes");
  expect_format_error([] { parse_safetensors(raw(~std::uint64_t{0}) + "{}", "bytes"); }, 0,
                      "found a claim of 18446744");
}

TEST(Safetensors, RefusesRangesThatDoNotTile) {
  const auto expect_bad = [](const std::string& header, const std::string& data, std::int64_t offset,
                             std::string_view part) {
    expect_format_error([&] { parse_safetensors(with_header(header, data), "bytes"); }, offset, part);
  };
  const std::string a = entry("a", "F32", "1", "0,4");
  expect_bad("{" + a + "}", "", static_cast<std::int64_t>(10 + a.size()),
             "expected 4 bytes of tensors, found 0");
  expect_bad("{" + a + "}", "12345", static_cast<std::int64_t>(10 + a.size()),
             "expected 4 bytes of tensors, found 5");
  expect_bad("{" + a + "," + entry("b", "F32", "1", "2,6") + "}", "123456", 8, "\"b\" to begin at 4");
  expect_bad("{" + a + "," + entry("b", "F32", "1", "8,12") + "}", "123456789012", 8, "\"b\" to begin at 4");
  expect_bad("{" + entry("a", "F32", "2", "0,4") + "}", "1234", 8, "expected the bytes of F32 [2]");
  expect_bad("{" + entry("a", "F32", "1", "4,0") + "}", "1234", 8, "found [4, 0)");
  expect_bad("{" + entry("a", "F32", "4611686018427387904,4", "0,0") + "}", "", 8,
             "expected the bytes of F32");
  expect_bad("{" + entry("a", "F32", "1000000000000", "0,4000000000000") + "}", "",
             static_cast<std::int64_t>(10 + entry("a", "F32", "1000000000000", "0,4000000000000").size()),
             "expected 4000000000000 bytes");
  expect_bad("{" + entry("a", "F4", "1", "0,4") + "}", "1234", 8, "found \"F4\"");
}

TEST(Safetensors, RefusesOtherSchemas) {
  const auto expect_bad = [](const std::string& header, std::string_view part) {
    expect_format_error([&] { parse_safetensors(with_header(header), "bytes"); }, 8, part);
  };
  const std::string empty = entry("a", "U8", "0", "0,0");
  expect_bad("[]", "expected a JSON object");
  expect_bad(" {}", "expected a JSON object");
  expect_bad("{" + empty + "," + empty + "}", "found \"a\" again");
  expect_bad("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "found \"dtype\" again");
  expect_bad("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", "found \"a\" again");
  expect_bad("{\"a\":1}", "found a number");
  expect_bad("{\"a\":[]}", "found an array");
  expect_bad("{\"__metadata__\":[]}", "found an array");
  expect_bad("{\"__metadata__\":\"\"}", "found a string");
  expect_bad("{\"a\":{}}", "only some of them");
  expect_bad("{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", "only some of them");
  expect_bad("{\"a\":{\"color\":1}}", "found \"color\"");
  expect_bad("{\"a\":{\"dtype\":[]}}", "found an array");
  expect_bad("{\"a\":{\"shape\":{}}}", "found an object");
  expect_bad("{\"a\":{\"shape\":3}}", "found a number");
  expect_bad("{" + entry("a", "U8", "-1", "0,0") + "}", "found a negative number");
  expect_bad("{" + entry("a", "U8", "1.5", "0,0") + "}", "found a fraction");
  expect_bad("{" + entry("a", "U8", "[1]", "0,0") + "}", "found an array");
  expect_bad("{" + entry("a", "U8", "null", "0,0") + "}", "found null");
  expect_bad("{" + entry("a", "U8", "18446744073709551615", "0,0") + "}", "below 2^63");
  expect_bad("{" + entry("a", "U8", "1,1,1,1,1,1,1,1,1", "0,0") + "}", "at most 8 axes");
  expect_bad("{" + entry("a", "U8", "0", "0") + "}", "found 1");
  expect_bad("{" + entry("a", "U8", "0", "0,0,0") + "}", "found more");
}

TEST(Safetensors, RefusesBrokenJson) {
  expect_format_error([] { parse_safetensors(with_header("{\"a\" 1}"), "bytes"); }, 13,
                      "expected a JSON header");
  expect_format_error([] { parse_safetensors(with_header("{}{}"), "bytes"); }, 10, "expected a JSON header");
  expect_format_error([] { parse_safetensors(with_header("{\"\xff\":1}"), "bytes"); }, 10,
                      "expected a JSON header");
}

TEST(Safetensors, RefusesDeepNestingWithoutRecursion) {
  const std::string metadata = "{\"__metadata__\":{\"a\":";
  EXPECT_TRUE(parse_safetensors(with_header(metadata + "[[[[[[]]]]]]}}"), "bytes").empty());
  for (std::size_t depth : {std::size_t{7}, std::size_t{1000000}}) {
    expect_format_error([&] { parse_safetensors(with_header(metadata + std::string(depth, '[')), "bytes"); },
                        8, "expected nesting up to 8");
  }
}

}  // namespace
}  // namespace aerogel::io
