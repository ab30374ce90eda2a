#include "nn/pointwise_layers.h"

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/elementwise.h"

#include "nn/parameter.h"
#include "nn/scope.h"

namespace aerogel::nn {

SparseTensor ReluLayer::forward(const SparseTensor& in, Context& context) const {
  return relu(in, context.exec);
}

LinearLayer::LinearLayer(std::int64_t c_in, std::int64_t c_out, bool bias)
    : c_in_(c_in), c_out_(c_out), has_bias_(bias) {
  if (c_in < 1 || c_out < 1) {
    throw InvalidArgument(
        fmt::format("[linear_layer] channels must be at least 1, got {} in and {} out", c_in, c_out));
  }
}

SparseTensor LinearLayer::forward(const SparseTensor& in, Context& context) const {
  return in.with_features(apply(in.features, context, {}));
}

Tensor LinearLayer::apply(const Tensor& rows, Context& context, Epilogue epilogue) const {
  if (!weight_.defined() || (has_bias_ && !bias_.defined())) {
    throw InvalidArgument(
        fmt::format("{} has no weights yet: call load_state_dict or init_weights", where(context)));
  }
  epilogue.bias = bias_;
  return linear(rows, weight_, epilogue, context.exec);
}

void LinearLayer::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  out.push_back({prefix + "weight",
                 {c_out_, c_in_},
                 [this](const Tensor& value) { weight_ = ConvWeight(value); },
                 [this] { return weight_.defined() ? weight_.canonical() : Tensor(); }});
  if (has_bias_) out.push_back(tensor_parameter(prefix + "bias", {c_out_}, bias_));
}

}  // namespace aerogel::nn
