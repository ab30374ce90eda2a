// Norms over the channels of a row, and over the sites and channels of a batch item's group. Everything in
// double, rounded once.
#include <cmath>
#include <vector>

#include "backend/reference/kernels_of.h"
#include "core/feature_types.h"
#include "core/half.h"

namespace aerogel::reference {
namespace {

/// Normalises the elements of [N, C] at the places `at` together.
template <class T>
void normalise(const Tensor& in, const Tensor& weight, const Tensor& bias, double eps, bool centred,
               const std::vector<std::int64_t>& at, const Tensor& out) {
  const std::int64_t channels = in.size(1);
  const auto count = static_cast<double>(at.size());
  double mean = 0;
  for (const std::int64_t i : at) mean += centred ? double{to_f32(in.data<T>()[i])} : 0.0;
  mean /= count;
  double variance = 0;
  for (const std::int64_t i : at) {
    const double distance = to_f32(in.data<T>()[i]) - mean;
    variance += distance * distance;
  }
  variance /= count;
  for (const std::int64_t i : at) {
    double value = (to_f32(in.data<T>()[i]) - mean) / std::sqrt(variance + eps);
    if (weight.defined()) value *= weight.data<float>()[i % channels];
    if (bias.defined()) value += bias.data<float>()[i % channels];
    out.mutable_data<T>()[i] = round_to<T>(value);
  }
}

}  // namespace

void row_norm(const RowNormArgs& args) {
  const std::int64_t channels = args.in.size(1);
  for (std::int64_t n = 0; n < args.in.size(0) && channels > 0; ++n) {
    std::vector<std::int64_t> at;
    for (std::int64_t c = 0; c < channels; ++c) at.push_back(n * channels + c);
    with_feature_type(args.in.dtype(), [&]<class T>(T) {
      normalise<T>(args.in, args.weight, args.bias, args.eps, args.centred, at, args.out);
    });
  }
}

void group_norm(const GroupNormArgs& args) {
  const std::int64_t channels = args.in.size(1);
  const std::int64_t width = channels / args.groups;
  std::vector<std::vector<std::int64_t>> members(
      static_cast<std::size_t>(args.coordinates.batch_size() * args.groups));
  for (std::int64_t i = 0; i < args.in.numel(); ++i) {
    const std::int64_t item = args.coordinates.row(i / channels)[0];
    members[static_cast<std::size_t>(item * args.groups + i % channels / width)].push_back(i);
  }
  for (const std::vector<std::int64_t>& at : members) {
    if (at.empty()) continue;
    with_feature_type(args.in.dtype(), [&]<class T>(T) {
      normalise<T>(args.in, args.weight, args.bias, args.eps, true, at, args.out);
    });
  }
}

}  // namespace aerogel::reference
