#include <string>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/sparse_tensor.h"

namespace aerogel {
namespace {

Tensor rows(const std::vector<std::int32_t>& values, std::int64_t width = 4) {
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size()) / width, width}, values);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Coordinates, KeepTheirOrderAndKnowTheSortedOne) {
  const auto set = Coordinates::create(rows({0, 2, 0, 0, 0, 0, 0, 1, 0, 1, 5, 5}), {4, 6, 6}, 1);
  EXPECT_EQ(set.size(), 3);
  EXPECT_FALSE(set.is_sorted());
  EXPECT_EQ(std::vector<std::int32_t>(set.sorted_order().begin(), set.sorted_order().end()),
            (std::vector<std::int32_t>{1, 2, 0}));
  EXPECT_EQ(set.row(0)[1], 2);
}

TEST(Coordinates, NameTheFirstRowOutOfRange) {
  EXPECT_EQ(message_of([] {
              Coordinates::create(rows({0, 0, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9}), {4, 4, 4}, 1);
            }),
            "[coordinates] row 1 is (0, 4, 0, 0) but the batch size is 1 and the spatial shape [4, 4, 4]");
  EXPECT_NE(message_of([] {
              Coordinates::create(rows({-1, 0, 0, 0}), {4, 4, 4}, 1);
            }).find("row 0"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              Coordinates::create(rows({1, 0, 0, 0}), {4, 4, 4}, 1);
            }).find("row 0"),
            std::string::npos);
}

TEST(Coordinates, NameBothEqualRows) {
  EXPECT_EQ(message_of([] {
              Coordinates::create(rows({0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1}), {4, 4, 4}, 1);
            }),
            "[coordinates] rows 0 and 2 are both (0, 1, 1, 1)");
}

TEST(Coordinates, RefuseWrongDtypesAndShapes) {
  EXPECT_THROW(Coordinates::create(rows({0, 1, 1, 1}).to(DType::kI64), {4, 4, 4}, 1), InvalidArgument);
  EXPECT_THROW(Coordinates::create(rows({0, 1, 1, 1}), {4, 4}, 1), InvalidArgument);
  EXPECT_THROW(Coordinates::create(rows({0, 1, 1, 1}), {4, 0, 4}, 1), InvalidArgument);
  EXPECT_THROW(Coordinates::create(rows({0, 1, 1, 1}), {4, 4, 4}, -1), InvalidArgument);
  EXPECT_THROW(Coordinates::create(Tensor(), {4, 4, 4}, 1), InvalidArgument);
}

TEST(Coordinates, NoSitesAreLegalInEveryDimension) {
  for (int ndim = 1; ndim <= kMaxNdim; ++ndim) {
    const auto set = Coordinates::create(rows({}, 1 + ndim), Dims::filled(ndim, 3), 0);
    EXPECT_EQ(set.size(), 0);
    EXPECT_TRUE(set.is_sorted());
  }
}

TEST(Coordinates, SortWhereTheExtentsDoNotFit63Bits) {
  const std::int32_t far = 1300000;  // 21 bits, three times, and one for the batch
  const auto set = Coordinates::create(rows({1, far, far, far, 0, far, 0, 0, 0, 0, far, 7}),
                                       {far + 1, far + 1, far + 1}, 2);
  EXPECT_EQ(std::vector<std::int32_t>(set.sorted_order().begin(), set.sorted_order().end()),
            (std::vector<std::int32_t>{2, 1, 0}));
}

TEST(Coordinates, DoNotFollowTheCallersArray) {
  Tensor mine = rows({0, 1, 1, 1});
  const auto set = Coordinates::create(mine, {4, 4, 4}, 1);
  mine.mutable_data<std::int32_t>()[1] = 3;
  EXPECT_EQ(set.row(0)[1], 1);
}

TEST(SparseTensor, JoinsEqualRowsAsAsked) {
  const Tensor sites = rows({0, 2, 2, 2, 0, 1, 1, 1, 0, 2, 2, 2});
  const Tensor features = Tensor::from<float>({3, 1}, std::vector<float>{1, 5, 4});
  const auto first_of = [&](Duplicates how) {
    const auto tensor = SparseTensor::create(features, sites, {4, 4, 4}, 1, how);
    EXPECT_EQ(tensor.sites(), 2);
    EXPECT_EQ(tensor.coordinates.row(0)[1], 2);  // the first of the equal rows keeps its place
    EXPECT_EQ(tensor.features.data<float>()[1], 5.0f);
    return tensor.features.data<float>()[0];
  };
  EXPECT_EQ(first_of(Duplicates::kFirst), 1.0f);
  EXPECT_EQ(first_of(Duplicates::kSum), 5.0f);
  EXPECT_EQ(first_of(Duplicates::kMean), 2.5f);
  EXPECT_EQ(first_of(Duplicates::kMax), 4.0f);
  EXPECT_THROW(SparseTensor::create(features, sites, {4, 4, 4}, 1), InvalidArgument);
}

TEST(SparseTensor, RefusesRowsThatDisagree) {
  const Tensor sites = rows({0, 2, 2, 2});
  EXPECT_THROW(SparseTensor::create(Tensor::zeros({2, 1}, DType::kF32), sites, {4, 4, 4}, 1),
               InvalidArgument);
  EXPECT_THROW(SparseTensor::create(Tensor::zeros({1, 1}, DType::kF64), sites, {4, 4, 4}, 1),
               InvalidArgument);
  for (const Duplicates how : {Duplicates::kSum, Duplicates::kMax}) {
    EXPECT_THROW(
        SparseTensor::create(Tensor::zeros({1, 1}, DType::kF32), rows({0, 9, 2, 2}), {4, 4, 4}, 1, how),
        InvalidArgument);
  }
}

TEST(Coordinates, RefusesMoreThan63BitsOfCells) {
  const Tensor none = Tensor::empty({0, 4}, DType::kI32);
  const std::int64_t side = 1 << 21;  // 2^63 cells
  try {
    Coordinates::create(none, {side, side, side}, 1);
    FAIL() << "not refused";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("2^63"), std::string::npos) << error.what();
  }
  EXPECT_THROW(Coordinates::create(none, {side, side, side / 2}, 2), InvalidArgument);
  EXPECT_NO_THROW(Coordinates::create(none, {side, side, side - 1}, 1));
  EXPECT_THROW(Coordinates::adopt_sorted(none, {side, side, side}, 1, {1, 1, 1}), InvalidArgument);
}

}  // namespace
}  // namespace aerogel
