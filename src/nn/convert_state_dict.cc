// Whole checkpoints from one weight layout to another: which tensors are convolutions, and what the rest is
// called.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/weight_layout.h"

#include "nn/layout_table.h"

namespace aerogel::nn {
namespace {

/// "layer.0.weight" is the stem "layer.0." and the leaf "weight".
std::string stem_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot + 1);
}
std::string leaf_of(const std::string& name) { return name.substr(stem_of(name).size()); }

const char* weight_leaf(const LayoutRow& layout) { return layout.kernel_name ? "kernel" : "weight"; }

/// k×k×k where K is a cube; empty otherwise.
Dims cube_kernel(std::int64_t volume) {
  constexpr std::int64_t kMaxSide = 2'097'151;  // whose cube is the largest in 63 bits
  const std::int64_t side = std::llround(std::cbrt(static_cast<double>(volume)));
  const bool cube = side >= 1 && side <= kMaxSide && side * side * side == volume;
  return cube ? Dims{side, side, side} : Dims{};
}

Dims kernel_axes(const Tensor& canonical) {
  Dims kernel;
  for (int axis = 1; axis < canonical.shape().size() - 1; ++axis) kernel.push_back(canonical.size(axis));
  return kernel;
}

class Converter {
 public:
  Converter(const std::map<std::string, Tensor>& state, const StateDictConversion& conversion)
      : state_(state),
        conversion_(conversion),
        from_(layout_row(conversion.from)),
        to_(layout_row(conversion.to)) {}

  ConvertedStateDict convert() {
    check_kernels();
    for (const auto& [name, tensor] : state_) {
      if (!is_chosen(name)) {
        put(name, tensor, name, tensor, {});
      } else if (is_convolution(name, tensor)) {
        convert_convolution(name, tensor);
      } else {
        const std::string to_name = rename(name);
        put(name, tensor, to_name, reshape_bias(name, tensor), {});
      }
    }
    if (!problems_.empty()) throw InvalidArgument(message());
    return std::move(result_);
  }

 private:
  bool is_chosen(const std::string& name) const {
    const auto& only = conversion_.only;
    return only.empty() || std::any_of(only.begin(), only.end(),
                                       [&](const std::string& prefix) { return name.starts_with(prefix); });
  }

  bool is_convolution(const std::string& name, const Tensor& tensor) const {
    return leaf_of(name) == weight_leaf(from_) && (from_.kernel_name || tensor.shape().size() >= 3);
  }

  void check_kernels() {
    for (const auto& [name, kernel] : conversion_.kernels) {
      const auto it = state_.find(name);
      if (it == state_.end() || !is_chosen(name) || !is_convolution(name, it->second)) {
        problems_.push_back(
            fmt::format("{} has a kernel {} given, but is no convolution here", name, kernel.joined('x')));
      }
    }
  }

  void put(const std::string& name, const Tensor& tensor, const std::string& to_name, const Tensor& to_tensor,
           const Dims& kernel) {
    if (!result_.tensors.emplace(to_name, to_tensor).second) {
      problems_.push_back(fmt::format("{} would become {}, which is there already", name, to_name));
    }
    if (!kernel.empty() || name != to_name || !(tensor.shape() == to_tensor.shape())) {
      result_.converted.push_back({name, tensor.shape(), to_name, to_tensor.shape(), kernel});
    }
  }

  void convert_convolution(const std::string& name, const Tensor& stored) {
    Dims kernel;
    if (const auto given = conversion_.kernels.find(name); given != conversion_.kernels.end()) {
      kernel = given->second;
    } else if (from_.one_tap_axis) {
      const int rank = stored.shape().size();
      const bool matrix = from_.kernel_name && rank == 2;
      if (rank != 3 && !matrix) {
        problems_.push_back(
            fmt::format("{}: layout {}: expected [K, C_in, C_out], got {}", name, from_.name, stored.str()));
        return;
      }
      kernel = cube_kernel(matrix ? 1 : stored.size(0));
      if (kernel.empty()) {
        problems_.push_back(fmt::format(
            "{} {}: {} taps are no cube; its kernel has to be given (convert: --kernel {}=KzxKyxKx)", name,
            stored.str(), stored.size(0), name));
        return;
      }
    }
    try {
      const Tensor canonical = import_weight(stored, conversion_.from, kernel);
      check_bias(name, stored, canonical.size(0));
      const Tensor out =
          conversion_.to == WeightLayout::kCanonical ? canonical : export_weight(canonical, conversion_.to);
      put(name, stored, stem_of(name) + weight_leaf(to_), out, kernel_axes(canonical));
    } catch (const InvalidArgument& error) {
      problems_.push_back(name + ": " + error.what());
    }
  }

  /// A bias tells C_out: it finds layouts that were declared wrongly where the shapes alone would fit.
  void check_bias(const std::string& name, const Tensor& stored, std::int64_t c_out) {
    const auto bias = state_.find(stem_of(name) + "bias");
    if (bias == state_.end() || bias->second.numel() == c_out) return;
    problems_.push_back(fmt::format("{}: layout {}: expected C_out = {} as {} {} has, got C_out = {} in {}",
                                    name, from_.name, bias->second.numel(), bias->first, bias->second.str(),
                                    c_out, stored.str()));
  }

  /// Of `from` and `to`: whether its side has MinkowskiEngine's names and the other has not.
  bool is_minkowski(WeightLayout layout) const {
    return layout == WeightLayout::kMinkowski && conversion_.from != conversion_.to;
  }

  /// MinkowskiBatchNorm holds a torch norm called `bn`.
  std::string rename(const std::string& name) const {
    const std::string stem = stem_of(name);
    if (is_minkowski(conversion_.from) && stem.ends_with(".bn."))
      return stem.substr(0, stem.size() - 3) + leaf_of(name);
    if (is_minkowski(conversion_.to) && state_.count(stem + "running_mean") != 0)
      return stem + "bn." + leaf_of(name);
    return name;
  }

  /// MinkowskiConvolution's bias is [1, C].
  Tensor reshape_bias(const std::string& name, const Tensor& tensor) const {
    const auto weight = state_.find(stem_of(name) + weight_leaf(from_));
    if (leaf_of(name) != "bias" || weight == state_.end() || !is_convolution(weight->first, weight->second))
      return tensor;
    const int rank = tensor.shape().size();
    if (is_minkowski(conversion_.from) && rank == 2 && tensor.size(0) == 1)
      return tensor.contiguous().reshape({tensor.size(1)});
    if (is_minkowski(conversion_.to) && rank == 1) return tensor.contiguous().reshape({1, tensor.size(0)});
    return tensor;
  }

  std::string message() const {
    std::string text = fmt::format("[convert_state_dict] {} to {}: {} of {} tensors do not fit:", from_.name,
                                   to_.name, problems_.size(), state_.size());
    for (const std::string& problem : problems_) text += "\n  " + problem;
    return text;
  }

  const std::map<std::string, Tensor>& state_;
  const StateDictConversion& conversion_;
  const LayoutRow& from_;
  const LayoutRow& to_;
  ConvertedStateDict result_;
  std::vector<std::string> problems_;
};

}  // namespace

ConvertedStateDict convert_state_dict(const std::map<std::string, Tensor>& state,
                                      const StateDictConversion& conversion) {
  return Converter(state, conversion).convert();
}

std::map<std::string, Tensor> import_state_dict(const std::map<std::string, Tensor>& state,
                                                WeightLayout layout,
                                                const std::map<std::string, Dims>& kernels) {
  return convert_state_dict(state, {layout, WeightLayout::kCanonical, kernels, {}}).tensors;
}

}  // namespace aerogel::nn
