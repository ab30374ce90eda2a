#include "io_testing.h"

namespace aerogel::io {
namespace {

TEST(PlyWrite, ComesBackThroughTheReader) {
  const Tensor xyz = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor heat = Tensor::from<float>({2}, std::vector<float>{-0.5f, 1e30f});
  const PointTable table = parse_ply(encode_ply(xyz, {{"heat", heat}}), "bytes");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "z", "heat"}));
  EXPECT_EQ(table.columns[1], (std::vector<double>{2, 5}));
  EXPECT_EQ(table.columns[3], (std::vector<double>{-0.5, 1e30f}));
}

TEST(PlyWrite, PacksViews) {
  const int axes[] = {1, 0};
  const Tensor xyz = Tensor::from<float>({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}).permute(axes);
  EXPECT_EQ(parse_ply(encode_ply(xyz, {}), "bytes").columns[2], (std::vector<double>{5, 6}));
}

TEST(PlyWrite, NoPoints) {
  EXPECT_EQ(parse_ply(encode_ply(Tensor::zeros({0, 3}, DType::kF32), {}), "bytes").rows(), 0);
}

TEST(PlyWrite, RefusesWrongTensorsAndNames) {
  const Tensor xyz = Tensor::zeros({2, 3}, DType::kF32);
  const Tensor field = Tensor::zeros({2}, DType::kF32);
  EXPECT_THROW(encode_ply(Tensor(), {}), InvalidArgument);
  EXPECT_THROW(encode_ply(Tensor::zeros({2, 4}, DType::kF32), {}), InvalidArgument);
  EXPECT_THROW(encode_ply(Tensor::zeros({2, 3}, DType::kF64), {}), InvalidArgument);
  EXPECT_THROW(encode_ply(xyz, {{"a", Tensor::zeros({3}, DType::kF32)}}), InvalidArgument);
  EXPECT_THROW(encode_ply(xyz, {{"a", Tensor::zeros({2}, DType::kU8)}}), InvalidArgument);
  EXPECT_THROW(encode_ply(xyz, {{"", field}}), InvalidArgument);
  EXPECT_THROW(encode_ply(xyz, {{"a b", field}}), InvalidArgument);
  EXPECT_THROW(encode_ply(xyz, {{"a\nend_header", field}}), InvalidArgument);
  EXPECT_THROW(encode_ply(xyz, {{"X", field}}), InvalidArgument);
  EXPECT_THROW(encode_ply(xyz, {{"a", field}, {"a", field}}), InvalidArgument);
}

}  // namespace
}  // namespace aerogel::io
