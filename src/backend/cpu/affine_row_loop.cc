// cpu/affine/row_loop/float
//
//   out[n, c] = activation(in[n, c] · scale[c] + shift[c] + residual[n, c])
//
//   in, residual, out [N, C]    scale, shift [C]    one pass, bound by memory; out may be in
//
// Measured 2026-12-01, Intel Xeon family 6 model 207, AVX-512, one thread, least cpu time of 40 repetitions
// on a busy shared machine (benchmark_rows): 66,035 × 64, scale, shift and ReLU 1.3 ms (25 GB/s), with a
// residual 2.0 ms (25 GB/s); buffers in the L3 cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/affine_row_loop.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/activate-inl.h"
#include "backend/cpu/op_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "core/feature_types.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {

template <class T>
void affine_rows_of(const AffineArgs& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t channels = args.out.size(1);
  const T* in = args.in.data<T>();
  const float* scale = args.scale.defined() ? args.scale.data<float>() : nullptr;
  const float* shift = args.shift.defined() ? args.shift.data<float>() : nullptr;
  const T* residual = args.residual.defined() ? args.residual.data<T>() : nullptr;
  const bool relu = args.activation == Activation::kRelu;
  T* out = args.out.mutable_data<T>();
  for (std::int64_t n = begin; n < end; ++n) {
    for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
      auto value = load_f32(d, in + n * channels + c);
      if (scale != nullptr && shift != nullptr) {
        value = hn::MulAdd(value, hn::LoadU(d, scale + c), hn::LoadU(d, shift + c));
      } else if (scale != nullptr) {
        value = hn::Mul(value, hn::LoadU(d, scale + c));
      } else if (shift != nullptr) {
        value = hn::Add(value, hn::LoadU(d, shift + c));
      }
      if (residual != nullptr) value = hn::Add(value, load_f32(d, residual + n * channels + c));
      if (relu) {
        value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);  // keeps NaN
      } else if (args.activation != Activation::kNone) {
        value = activate(d, value, args.activation, args.negative_slope);
      }
      store_f32(value, d, out + n * channels + c);
    });
  }
}

void affine_rows(const AffineArgs& args, std::int64_t begin, std::int64_t end) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { affine_rows_of<T>(args, begin, end); });
}

}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(affine_rows);

constexpr std::int64_t kChunkElements = 1 << 16;  // 256 KiB in, as much out

void run(const AffineArgs& args) {
  const std::int64_t channels = args.out.size(1);
  if (channels == 0) return;
  parallel_chunks(args.out.size(0), kChunkElements / channels, args.threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    HWY_DYNAMIC_DISPATCH(affine_rows)(args, begin, end);
                  });
}

}  // namespace

const Kernel<AffineArgs> kAffineRowLoop = {"cpu/affine/row_loop/float",
                                           "scale, shift, residual and activation in one pass", supports_all,
                                           nullptr, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
