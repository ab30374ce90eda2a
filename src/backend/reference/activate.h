// Activations by their definitions, in double; at ±∞ the limit.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "aerogel/types.h"

namespace aerogel::reference {

inline double activate(Activation activation, double negative_slope, double x) {
  const auto gated = [x](double gate) {  // the limit of −∞ · 0 is 0
    return x == -std::numeric_limits<double>::infinity() ? 0.0 : x * gate;
  };
  const auto sigmoid = [](double y) { return 1 / (1 + std::exp(-y)); };
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kLeakyRelu:
      return x < 0 ? x * negative_slope : x;
    case Activation::kSigmoid:
      return sigmoid(x);
    case Activation::kSilu:
      return gated(sigmoid(x));
    case Activation::kGeluErf:
      return gated(std::erfc(-x / std::numbers::sqrt2) / 2);
    case Activation::kGeluTanh:  // (1 + tanh(y)) / 2 = sigmoid(2 y)
      return gated(sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

}  // namespace aerogel::reference
