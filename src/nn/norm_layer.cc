#include "nn/norm_layer.h"

#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/parameter.h"
#include "nn/scope.h"

namespace aerogel::nn {
namespace {

Tensor filled(std::int64_t channels, float value) {
  Tensor tensor = Tensor::empty({channels}, DType::kF32);
  float* values = tensor.mutable_data<float>();
  std::fill(values, values + channels, value);
  return tensor;
}

}  // namespace

NormLayer::NormLayer(std::int64_t channels, double eps) : channels_(channels) {
  if (channels < 1)
    throw InvalidArgument(fmt::format("[norm_layer] channels must be at least 1, got {}", channels));
  norm_ = {filled(channels, 1), filled(channels, 0), filled(channels, 0), filled(channels, 1), eps};
  folded_ = fold_batch_norm(norm_);
}

SparseTensor NormLayer::forward(const SparseTensor& in, Context& context) const {
  if (in.channels() != channels_) {
    throw InvalidArgument(
        fmt::format("{} expects {} channels, got features {}", where(context), channels_, in.features.str()));
  }
  return context.training ? batch_norm_train(in, norm_, context.exec) : batch_norm(in, norm_, context.exec);
}

void NormLayer::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  const auto refold = [this] { folded_ = fold_batch_norm(norm_); };
  out.push_back(tensor_parameter(prefix + "weight", {channels_}, norm_.weight, refold));
  out.push_back(tensor_parameter(prefix + "bias", {channels_}, norm_.bias, refold));
  out.push_back(tensor_parameter(prefix + "running_mean", {channels_}, norm_.running_mean, refold));
  out.push_back(tensor_parameter(prefix + "running_var", {channels_}, norm_.running_var, refold));
}

}  // namespace aerogel::nn
