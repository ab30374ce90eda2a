#include "load_weights.h"

#include <algorithm>

#include "aerogel/io.h"

#include "nn/layout_table.h"
#include "output.h"

namespace aerogel::cli {

namespace {

constexpr const char* kOptionalPrefix = "backbone_3d.";

/// The kernels of `module`'s convolutions by their names in `state`, of those that are there.
std::map<std::string, Dims> stored_kernels(nn::Module& module, const nn::StateDict& state,
                                           const std::string& prefix, nn::WeightLayout layout) {
  const bool kernel_name = nn::layout_row(layout).kernel_name;
  std::vector<nn::Parameter> parameters;
  module.parameters("", parameters);
  std::map<std::string, Dims> kernels;
  for (const nn::Parameter& parameter : parameters) {
    const int rank = parameter.shape.size();
    if (rank < 3) continue;
    const std::string stem = parameter.name.substr(0, parameter.name.rfind('.') + 1);
    const auto found = state.find(prefix + stem + (kernel_name ? "kernel" : "weight"));
    if (found == state.end() || (!kernel_name && found->second.shape().size() < 3)) continue;
    Dims kernel;
    for (int axis = 1; axis < rank - 1; ++axis) kernel.push_back(parameter.shape[axis]);
    kernels[found->first] = kernel;
  }
  return kernels;
}

}  // namespace

std::string weight_layouts_help() {
  return "canonical (also spconv2.2: spconv 2.2 and later, TRELLIS, TRELLIS.2), spconv1 (1.x, mmcv), "
         "spconv2.0 (2.0, "
         "2.1), torch (Conv1d to 3d), mlx, minkowski, torchsparse";
}

void load_weights(nn::Module& module, const std::string& path, nn::WeightLayout layout) {
  require_input(path);
  nn::StateDict state = io::read_weights(path);
  if (layout != nn::WeightLayout::kCanonical) {
    nn::StateDictConversion conversion;
    conversion.from = layout;
    const bool prefixed = std::any_of(state.begin(), state.end(), [](const auto& entry) {
      return entry.first.starts_with(kOptionalPrefix);
    });
    if (prefixed) conversion.only = {kOptionalPrefix};
    conversion.kernels = stored_kernels(module, state, prefixed ? kOptionalPrefix : "", layout);
    state = nn::convert_state_dict(state, conversion).tensors;
  }
  nn::load_state_dict(module, state, kOptionalPrefix);
}

}  // namespace aerogel::cli
