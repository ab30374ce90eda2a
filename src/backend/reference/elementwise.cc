// Ops on rows of [N, C]: affine, moments, concatenation, scattered sums, gathers.
#include <algorithm>
#include <vector>

#include "backend/reference/activate.h"
#include "backend/reference/kernels_of.h"
#include "core/feature_types.h"
#include "core/half.h"

namespace aerogel::reference {
namespace {

template <class T>
void affine_of(const AffineArgs& args) {
  const std::int64_t channels = args.in.size(1);
  for (std::int64_t i = 0; i < args.in.numel(); ++i) {
    const std::int64_t c = i % channels;
    double value = to_f32(args.in.data<T>()[i]);
    if (args.scale.defined()) value *= args.scale.data<float>()[c];
    if (args.shift.defined()) value += args.shift.data<float>()[c];
    if (args.residual.defined()) value += to_f32(args.residual.data<T>()[i]);
    value = activate(args.activation, args.negative_slope, value);
    args.out.mutable_data<T>()[i] = round_to<T>(value);
  }
}

template <class T>
void moments_of(const MomentsArgs& args) {
  const std::int64_t rows = args.in.size(0);
  const std::int64_t channels = args.in.size(1);
  const T* in = args.in.data<T>();
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += to_f32(in[i * channels + c]);
    const double mean = sum / static_cast<double>(rows);
    double squares = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      const double distance = to_f32(in[i * channels + c]) - mean;
      squares += distance * distance;
    }
    args.mean.mutable_data<double>()[c] = mean;
    args.var.mutable_data<double>()[c] = squares / static_cast<double>(rows);
  }
}

template <class T>
void concat_of(const ConcatArgs& args) {
  const std::int64_t width = args.out.size(1);
  std::int64_t column = 0;
  for (std::size_t part = 0; part < args.parts.size(); ++part) {
    const std::int64_t channels = args.parts[part].size(1);
    for (std::int64_t i = 0; i < args.out.size(0); ++i) {
      const std::int64_t row = args.ids.empty() ? i : args.ids[part].data<std::int64_t>()[i];
      T* to = args.out.mutable_data<T>() + i * width + column;
      if (row < 0) std::fill_n(to, channels, T{});
      if (row >= 0) std::copy_n(args.parts[part].data<T>() + row * channels, channels, to);
    }
    column += channels;
  }
}

template <class T>
void scatter_add_of(const ScatterAddArgs& args) {
  const std::int64_t channels = args.out.size(1);
  T* out = args.out.mutable_data<T>();
  std::fill_n(out, args.out.numel(), T{});
  for (std::size_t part = 0; part < args.parts.size(); ++part) {
    for (std::int64_t i = 0; i < args.parts[part].size(0); ++i) {
      const std::int64_t to = args.rows[part].data<std::int32_t>()[i];
      for (std::int64_t c = 0; c < channels; ++c) {
        T& sum = out[to * channels + c];
        sum = round_to<T>(to_f32(sum) + to_f32(args.parts[part].data<T>()[i * channels + c]));
      }
    }
  }
}

template <class T>
void gather_rows_of(const GatherRowsArgs& args) {
  const std::int64_t channels = args.in.size(1);
  for (std::int64_t p = 0; p < args.ids.size(0); ++p) {
    const std::int64_t id = args.ids.data<std::int64_t>()[p];
    for (std::int64_t c = 0; c < channels; ++c) {
      args.out.mutable_data<T>()[p * channels + c] = id < 0 ? T{} : args.in.data<T>()[id * channels + c];
    }
  }
}

}  // namespace

void affine(const AffineArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { affine_of<T>(args); });
}
void moments(const MomentsArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { moments_of<T>(args); });
}
void concat(const ConcatArgs& args) {
  with_feature_type(args.out.dtype(), [&]<class T>(T) { concat_of<T>(args); });
}
void scatter_add(const ScatterAddArgs& args) {
  with_feature_type(args.out.dtype(), [&]<class T>(T) { scatter_add_of<T>(args); });
}
void gather_rows(const GatherRowsArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { gather_rows_of<T>(args); });
}

}  // namespace aerogel::reference
