#include <fmt/core.h>

#include "aerogel/conv.h"

namespace aerogel {

double ConvProblem::flop() const noexcept {
  return 2.0 * static_cast<double>(pairs) * static_cast<double>(c_in) * static_cast<double>(c_out) /
         static_cast<double>(groups);
}

std::string ConvProblem::str() const {
  std::string epilogue;
  const auto add = [&](bool present, std::string_view name) {
    if (present) epilogue += fmt::format("{}{}", epilogue.empty() ? "" : "+", name);
  };
  add(bias, "bias");
  add(affine, "affine");
  add(residual, "residual");
  add(activation != Activation::kNone, activation_name(activation));
  add(requantised, "requantise");
  return fmt::format("sparse_conv:{}:n_in={}:n_out={}:pairs={}:cin={}:cout={}{}:dtype={}:epilogue={}",
                     spec.str(), n_in, n_out, pairs, c_in, c_out,
                     groups == 1 ? "" : fmt::format(":groups={}", groups), dtype_name(dtype),
                     epilogue.empty() ? "none" : epilogue);
}

}  // namespace aerogel
