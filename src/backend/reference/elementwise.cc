// Ops on rows of [N, C]: affine, moments, concatenation, scattered sums, gathers.
#include <algorithm>
#include <vector>

#include "backend/reference/kernels_of.h"

namespace aerogel::reference {

void affine(const AffineArgs& args) {
  const std::int64_t channels = args.in.size(1);
  for (std::int64_t i = 0; i < args.in.numel(); ++i) {
    const std::int64_t c = i % channels;
    double value = args.in.data<float>()[i];
    if (args.scale.defined()) value *= args.scale.data<float>()[c];
    if (args.shift.defined()) value += args.shift.data<float>()[c];
    if (args.residual.defined()) value += args.residual.data<float>()[i];
    if (args.activation == Activation::kRelu && value < 0) value = 0;
    args.out.mutable_data<float>()[i] = static_cast<float>(value);
  }
}

void moments(const MomentsArgs& args) {
  const std::int64_t rows = args.in.size(0);
  const std::int64_t channels = args.in.size(1);
  const auto* in = args.in.data<float>();
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += in[i * channels + c];
    const double mean = sum / static_cast<double>(rows);
    double squares = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      squares += (in[i * channels + c] - mean) * (in[i * channels + c] - mean);
    args.mean.mutable_data<double>()[c] = mean;
    args.var.mutable_data<double>()[c] = squares / static_cast<double>(rows);
  }
}

void concat(const ConcatArgs& args) {
  const std::int64_t width = args.out.size(1);
  std::int64_t column = 0;
  for (const Tensor& part : args.parts) {
    const std::int64_t channels = part.size(1);
    for (std::int64_t i = 0; i < part.size(0); ++i) {
      std::copy_n(part.data<float>() + i * channels, channels,
                  args.out.mutable_data<float>() + i * width + column);
    }
    column += channels;
  }
}

void scatter_add(const ScatterAddArgs& args) {
  const std::int64_t channels = args.out.size(1);
  auto* out = args.out.mutable_data<float>();
  std::fill_n(out, args.out.numel(), 0.0f);
  for (std::size_t part = 0; part < args.parts.size(); ++part) {
    for (std::int64_t i = 0; i < args.parts[part].size(0); ++i) {
      const std::int64_t to = args.rows[part].data<std::int32_t>()[i];
      for (std::int64_t c = 0; c < channels; ++c) {
        out[to * channels + c] += args.parts[part].data<float>()[i * channels + c];
      }
    }
  }
}

void gather_rows(const GatherRowsArgs& args) {
  const std::int64_t channels = args.in.size(1);
  for (std::int64_t p = 0; p < args.ids.size(0); ++p) {
    const std::int64_t id = args.ids.data<std::int64_t>()[p];
    for (std::int64_t c = 0; c < channels; ++c) {
      args.out.mutable_data<float>()[p * channels + c] =
          id < 0 ? 0.0f : args.in.data<float>()[id * channels + c];
    }
  }
}

}  // namespace aerogel::reference
