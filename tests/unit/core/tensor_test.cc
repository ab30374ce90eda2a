#include "aerogel/tensor.h"

#include <numeric>

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

TEST(Tensor, RefusesNegativeAndOverflowingExtents) {
  EXPECT_THROW(Tensor::empty({-1}, DType::kF32), InvalidArgument);
  EXPECT_THROW(Tensor::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}, DType::kF32), InvalidArgument);
}

TEST(Tensor, OutOfMemorySaysWhatWasAsked) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
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
