// out[o, n] = activation((Σ_k Σ_c in[i, first + c] · weight[n, k, c] + bias[n]) · scale[n] + shift[n] +
// residual[o, n]), over the pairs (i, o) of map[k] and the input channels from `first` on of n's group,
// accumulated in double and rounded once.
#include "backend/reference/sparse_conv.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/reference/activate.h"
#include "backend/reference/kernels_of.h"
#include "core/feature_types.h"
#include "core/half.h"

namespace aerogel::reference {
namespace {

const float* optional_data(const Tensor& tensor) { return tensor.defined() ? tensor.data<float>() : nullptr; }

/// The input row that feeds output row `o` through offset k, or −1. A linear layer feeds each row from
/// itself.
std::int64_t input_row(const SparseConvArgs& args, std::int64_t k, std::int64_t o) {
  if (args.map == nullptr) return o;
  const auto* begin = args.map->offset_begin.data<std::int64_t>();
  const auto* out_rows = args.map->out_rows.data<std::int32_t>();
  const auto* found = std::lower_bound(out_rows + begin[k], out_rows + begin[k + 1], o);
  if (found == out_rows + begin[k + 1] || *found != o) return -1;
  return args.map->in_rows.data<std::int32_t>()[found - out_rows];
}

/// round(value / scale), half to even, saturated; NaN gives 0.
std::int8_t requantise(double value, float scale) {
  const double rounded = std::nearbyint(value / double{scale});
  return rounded == rounded ? static_cast<std::int8_t>(std::clamp(rounded, -128.0, 127.0)) : std::int8_t{0};
}

/// The same problem with features, weights and residual in f32: exact, and free where they are f32 already.
SparseConvArgs widened(SparseConvArgs args) {
  args.in = args.in.to(DType::kF32);
  if (args.weight.canonical().dtype() != DType::kF32) args.weight = args.weight.canonical().to(DType::kF32);
  if (args.epilogue.residual.defined()) args.epilogue.residual = args.epilogue.residual.to(DType::kF32);
  return args;
}

}  // namespace

void sparse_conv_rows(const SparseConvArgs& given, std::span<const std::int64_t> rows, double* out,
                      double* abs_sum) {
  const SparseConvArgs args = widened(given);
  const std::int64_t c_in = args.problem.c_in;
  const std::int64_t c_out = args.problem.c_out;
  const std::int64_t volume = args.weight.volume();
  const std::int64_t group_in = c_in / args.problem.groups;
  const std::int64_t group_out = c_out / args.problem.groups;
  const float* weight = args.weight.canonical().data<float>();  // [C_out, K, C_in / groups]
  const float* in = args.in.data<float>();                      // [N_in, C_in]
  const float* bias = optional_data(args.epilogue.bias);
  const float* scale = optional_data(args.epilogue.scale);
  const float* shift = optional_data(args.epilogue.shift);
  const float* residual = optional_data(args.epilogue.residual);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::int64_t o = rows[r];
    double* sum = out + r * static_cast<std::size_t>(c_out);
    double* absolute = abs_sum + r * static_cast<std::size_t>(c_out);
    std::fill_n(sum, c_out, 0.0);
    std::fill_n(absolute, c_out, 0.0);
    for (std::int64_t k = 0; k < volume; ++k) {
      const std::int64_t i = input_row(args, k, o);
      if (i < 0) continue;
      for (std::int64_t n = 0; n < c_out; ++n) {
        const float* from = in + i * c_in + n / group_out * group_in;
        for (std::int64_t c = 0; c < group_in; ++c) {
          const double term = double{from[c]} * double{weight[(n * volume + k) * group_in + c]};
          sum[n] += term;
          absolute[n] += std::abs(term);
        }
      }
    }
    const Quantization& scales = args.epilogue.quantization;
    for (std::int64_t n = 0; n < c_out; ++n) {
      if (args.problem.dtype == DType::kI8) {
        const double factor = double{scales.in_scale} * double{scales.weight_scale.data<float>()[n]};
        sum[n] *= factor;
        absolute[n] *= std::abs(factor);
      }
      const auto add = [&](double term) {
        sum[n] += term;
        absolute[n] += std::abs(term);
      };
      if (bias) add(bias[n]);
      if (scale) {
        sum[n] *= scale[n];
        absolute[n] *= std::abs(scale[n]);
      }
      if (shift) add(shift[n]);
      if (residual) add(residual[o * c_out + n]);
      sum[n] = activate(args.epilogue.activation, args.epilogue.negative_slope, sum[n]);
    }
  }
}

void sparse_conv(const SparseConvArgs& args) {
  const SparseConvArgs exact = widened(args);
  const std::int64_t c_out = args.problem.c_out;
  std::vector<double> row(static_cast<std::size_t>(c_out));
  std::vector<double> abs_sum(static_cast<std::size_t>(c_out));
  const auto run_rows = [&](auto* out, const auto& round) {
    for (std::int64_t o = 0; o < args.problem.n_out; ++o) {
      sparse_conv_rows(exact, {&o, 1}, row.data(), abs_sum.data());
      std::transform(row.begin(), row.end(), out + o * c_out, round);
    }
  };
  if (args.problem.requantised) {
    const float scale = args.epilogue.quantization.out_scale;
    return run_rows(args.out.mutable_data<std::int8_t>(),
                    [scale](double value) { return requantise(value, scale); });
  }
  with_feature_type(args.out.dtype(), [&]<class T>(T) {
    run_rows(args.out.mutable_data<T>(), [](double value) { return round_to<T>(value); });
  });
}

}  // namespace aerogel::reference
