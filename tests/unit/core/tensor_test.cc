#include "aerogel/tensor.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

Tensor counting(const Dims& shape) {
  Tensor tensor = Tensor::empty(shape, DType::kF32);
  std::iota(tensor.mutable_data<float>(), tensor.mutable_data<float>() + tensor.numel(), 0.0f);
  return tensor;
}

TEST(Tensor, PermuteIsAViewAndContiguousPacksIt) {
  const Tensor tensor = counting({2, 3, 4});
  const int axes[] = {2, 0, 1};
  const Tensor view = tensor.permute(axes);
  EXPECT_EQ(view.shape(), (Dims{4, 2, 3}));
  EXPECT_EQ(view.raw(), tensor.raw());
  EXPECT_FALSE(view.is_contiguous());
  const Tensor packed = view.contiguous();
  EXPECT_EQ(packed.data<float>()[1 * 6 + 1 * 3 + 2], tensor.data<float>()[1 * 12 + 2 * 4 + 1]);
  const int bad[] = {0, 0, 1};
  EXPECT_THROW(static_cast<void>(tensor.permute(bad)), InvalidArgument);
}

TEST(Tensor, ReshapeAndSliceShareData) {
  const Tensor tensor = counting({4, 3});
  EXPECT_EQ(tensor.reshape({2, 6}).raw(), tensor.raw());
  EXPECT_THROW(static_cast<void>(tensor.reshape({5, 2})), InvalidArgument);
  const Tensor rows = tensor.slice_rows(1, 3);
  EXPECT_EQ(rows.shape(), (Dims{2, 3}));
  EXPECT_EQ(rows.data<float>()[0], 3.0f);
  EXPECT_THROW(static_cast<void>(tensor.slice_rows(2, 5)), InvalidArgument);
}

TEST(Tensor, ChecksTheDtypeOnAccess) {
  EXPECT_THROW(static_cast<void>(counting({2}).data<std::int32_t>()), InvalidArgument);
}

TEST(Tensor, FromRefusesAWrongCount) {
  EXPECT_THROW(Tensor::from<float>({2, 2}, std::vector<float>{1, 2, 3}), InvalidArgument);
}

TEST(Tensor, ConvertsBetweenDtypes) {
  const Tensor ints = Tensor::from<std::int32_t>({3}, std::vector<std::int32_t>{-2, 0, 7});
  const Tensor floats = ints.to(DType::kF32);
  EXPECT_EQ(floats.data<float>()[0], -2.0f);
  EXPECT_EQ(floats.to(DType::kF16).to(DType::kF64).data<double>()[2], 7.0);
}

TEST(Tensor, ConvertsIntegersExactly) {
  const std::int64_t past_double = (std::int64_t{1} << 53) + 1;
  const std::vector<std::int64_t> values = {past_double, -past_double,
                                            std::numeric_limits<std::int64_t>::max()};
  const Tensor wide = Tensor::from<std::int64_t>({3}, values);
  EXPECT_EQ(wide.slice_rows(2, 3).to(DType::kU64).to(DType::kI64).data<std::int64_t>()[0], values[2]);
  EXPECT_EQ(wide.slice_rows(0, 1).to(DType::kU64).to(DType::kI64).data<std::int64_t>()[0], past_double);
  EXPECT_EQ(wide.to(DType::kF64).data<double>()[0], 0x1p53);
}

TEST(Tensor, RefusesWhatAnIntegerCannotHold) {
  const auto expect_refused = [](const Tensor& tensor, DType dtype, const std::string& text) {
    try {
      static_cast<void>(tensor.to(dtype));
      ADD_FAILURE() << tensor.str() << " became " << dtype_name(dtype);
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  const auto floats = [](float value) { return Tensor::from<float>({2}, std::vector<float>{1, value}); };
  for (const DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32,
                            DType::kI64, DType::kU64}) {
    expect_refused(floats(NAN), dtype, "element 1 of f32 [2] is nan");
    expect_refused(floats(INFINITY), dtype, "element 1 of f32 [2] is inf");
    expect_refused(floats(1e30F), dtype, "element 1 of f32 [2] is 1e+30");
  }
  expect_refused(floats(0x1p63F), DType::kI64, "element 1");
  expect_refused(floats(-1), DType::kU64, "element 1 of f32 [2] is -1, which u64 cannot hold");
  expect_refused(floats(128), DType::kI8, "element 1");
  expect_refused(Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{std::int64_t{1} << 31}),
                 DType::kI32, "element 0 of i64 [1] is 2147483648, which i32 cannot hold");
  expect_refused(Tensor::from<std::int32_t>({1}, std::vector<std::int32_t>{-1}), DType::kU8, "element 0");
}

TEST(Tensor, CutsFractionsAtTheEdgesOfARange) {
  const Tensor edges = Tensor::from<float>({3}, std::vector<float>{-128.75F, 127.75F, -0x1p63F});
  EXPECT_EQ(edges.slice_rows(0, 2).to(DType::kI8).data<std::int8_t>()[0], -128);
  EXPECT_EQ(edges.slice_rows(0, 2).to(DType::kI8).data<std::int8_t>()[1], 127);
  EXPECT_EQ(edges.slice_rows(2, 3).to(DType::kI64).data<std::int64_t>()[0],
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Tensor::from<float>({1}, std::vector<float>{-0.5F}).to(DType::kU8).data<std::uint8_t>()[0], 0);
}

TEST(Tensor, RefusesNegativeAndOverflowingExtents) {
  EXPECT_THROW(Tensor::empty({-1}, DType::kF32), InvalidArgument);
  EXPECT_THROW(Tensor::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}, DType::kF32), InvalidArgument);
}

TEST(Tensor, OutOfMemorySaysWhatWasAsked) {
#ifdef AEROGEL_SANITIZED
  GTEST_SKIP() << "a sanitizer ends the process on an allocation this large";
#endif
  try {
    Tensor::empty({std::int64_t{1} << 58}, DType::kF32);
    FAIL() << "an exabyte was granted";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked_bytes(), std::int64_t{1} << 60);
  }
}

TEST(Tensor, MeterCountsTensorsWhileTheyLive) {
  ExecOptions exec;
  exec.meter = std::make_shared<MemoryMeter>();
  {
    const Tensor a = Tensor::empty({256}, DType::kF32, exec);
    const Tensor b = Tensor::empty({256}, DType::kF32, exec);
    EXPECT_EQ(exec.meter->live_bytes(), 2048);
  }
  EXPECT_EQ(exec.meter->live_bytes(), 0);
  EXPECT_EQ(exec.meter->peak_bytes(), 2048);
}

TEST(Tensor, AMeterRefusesWhatPassesItsLimit) {
  ExecOptions exec;
  exec.meter = std::make_shared<MemoryMeter>(3000);
  exec.meter->add(500, MemoryUse::kMapBuilding);
  const Tensor a = Tensor::empty({256}, DType::kF32, exec);
  try {
    Tensor::empty({512}, DType::kF32, exec);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked_bytes(), 2048);
    EXPECT_EQ(error.free_bytes(), 3000 - 500 - 1024);
  }
  EXPECT_EQ(exec.meter->live_bytes(), 1024) << "a refusal is not counted";
  exec.meter->remove(500, MemoryUse::kMapBuilding);
  EXPECT_EQ(exec.meter->live_bytes(MemoryUse::kMapBuilding), 0);
  EXPECT_NO_THROW(Tensor::empty({490}, DType::kF32, exec));
}

TEST(Tensor, DryRunHasShapeButNoData) {
  ExecOptions exec;
  exec.dry_run = true;
  exec.meter = std::make_shared<MemoryMeter>();
  const Tensor tensor = Tensor::empty({std::int64_t{1} << 50}, DType::kF32, exec);
  EXPECT_FALSE(tensor.has_data());
  EXPECT_EQ(exec.meter->live_bytes(), std::int64_t{1} << 52);
}

}  // namespace
}  // namespace aerogel
