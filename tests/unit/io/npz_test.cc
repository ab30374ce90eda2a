#include "io/zip.h"
#include "io_testing.h"
#include "shared_data.h"

namespace aerogel::io {
namespace {

// np.savez_compressed(points=np.zeros((100, 3), '<f4'), other=np.array(True)), NumPy 2
const std::string kDeflated = from_hex(
    "504b03042d000000080000002100307fc99dffffffffffffffff0a001400706f696e74732e6e7079010010003005000000000000"
    "52000000000000"
    "009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a1767"
    "2416a402f91a"
    "8606063a0ac69a3a0ab50a64022e8651300a46c12818220000504b03042d000000080000002100822df8d3ffffffffffffffff09"
    "0014006f74"
    "6865722e6e707901001000810000000000000043000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8"
    "aea3a09e96"
    "5f54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a14012e4600504b01022d032d0000000800000021"
    "00307fc99d"
    "52000000300500000a0000000000000000000000800100000000706f696e74732e6e7079504b01022d032d000000080000002100"
    "822df8d343"
    "0000008100000009000000000000000000000080018e0000006f746865722e6e7079504b050600000000020002006f0000000c01"
    "00000000");

TEST(Npz, ReadsWhatNumpyWrote) {
  const auto tensors = parse_npz(kDeflated, "bytes");
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors.at("points").str(), "f32 [100, 3]");
  EXPECT_EQ(tensors.at("points").data<float>()[299], 0);
  EXPECT_EQ(tensors.at("other").str(), "bool []");
  expect_no_prefix(kDeflated, [](std::string_view bytes) { parse_npz(bytes, "bytes"); });
}

TEST(Npz, ComesBack) {
  const std::map<std::string, Tensor> tensors = {
      {"a", Tensor::from<std::int64_t>({2}, std::vector<std::int64_t>{1, -1})},
      {"b/c", Tensor::zeros({0, 4}, DType::kU8)}};
  const auto back = parse_npz(encode_npz(tensors), "bytes");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back.at("a").data<std::int64_t>()[1], -1);
  EXPECT_EQ(back.at("b/c").str(), "u8 [0, 4]");
  EXPECT_TRUE(parse_npz(encode_npz({}), "bytes").empty());
}

TEST(Npz, ChoosesAnArray) {
  const Tensor one = Tensor::zeros({1, 3}, DType::kF32);
  const Tensor two = Tensor::zeros({2, 3}, DType::kF32);
  EXPECT_EQ(parse_npz_array(encode_npz({{"any", one}}), "bytes", "").size(0), 1);
  EXPECT_EQ(parse_npz_array(encode_npz({{"any", one}, {"points", two}}), "bytes", "").size(0), 2);
  EXPECT_EQ(parse_npz_array(encode_npz({{"any", one}, {"pc", two}}), "bytes", "").size(0), 2);
  EXPECT_EQ(parse_npz_array(encode_npz({{"any", one}, {"pc", two}}), "bytes", "any").size(0), 1);
  for (const char* key : {"", "gone"}) {
    try {
      parse_npz_array(encode_npz({{"a", one}, {"b", two}}), "bytes", key);
      ADD_FAILURE() << "expected InvalidArgument";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("it has: a, b"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(parse_npz_array(encode_npz({}), "bytes", ""), InvalidArgument);
}

TEST(Npz, NamesTheMemberThatIsBad) {
  try {
    parse_npz(pack_zip({{"notes.txt", "passed over"}, {"a.npy", "no array"}}), "bytes");
    ADD_FAILURE() << "expected a FormatError";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.path(), "bytes:a.npy");
    EXPECT_EQ(error.offset(), 0);
  }
}

TEST(Npz, ReadsTheSharedFile) {
  const auto path = shared_data("data/points/vehicle_lidar/benchmark-pc.npz");
  if (!path)
    GTEST_SKIP()
        << "data/points/vehicle_lidar/benchmark-pc.npz is absent; AEROGEL_SHARED names the folder of data";
  EXPECT_EQ(read_npz(*path).at("pc").str(), "f32 [198130, 3]");
  const PointTable table = read_points(*path);
  EXPECT_EQ(table.rows(), 198130);
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "z"}));
}

}  // namespace
}  // namespace aerogel::io
