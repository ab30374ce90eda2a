// Names to parameters: strict loading, reading back, and weights from a seed.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/nn.h"

namespace aerogel::nn {
namespace {

std::vector<Parameter> parameters_of(Module& module) {
  std::vector<Parameter> parameters;
  module.parameters("", parameters);
  return parameters;
}

bool ends_with(const std::string& text, std::string_view ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

/// A stream of numbers that depends on the seed and a name only (splitmix64 behind FNV-1a).
class NamedStream {
 public:
  NamedStream(std::uint64_t seed, const std::string& name) : state_(0xcbf29ce484222325u) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    state_ ^= seed * 0x9e3779b97f4a7c15u;
  }

  /// Uniform in [-1, 1), a multiple of 2^-23: exact in f32, so the same on every machine.
  float signed_unit() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<float>(static_cast<std::int64_t>(z >> 40) - (std::int64_t{1} << 23)) * 0x1p-23F;
  }

 private:
  std::uint64_t state_;
};

struct Spread {
  float centre;
  float half_width;
};

/// Convolutions: variance 2 / fan-in (He et al. 2015), uniform, hence √(6 / fan-in) wide. Norms: near the
/// identity.
Spread spread_of(const Parameter& parameter) {
  if (parameter.shape.size() > 1) {
    const std::int64_t fan_in = parameter.shape.product() / parameter.shape[0];
    return {0, std::sqrt(6.0F / static_cast<float>(fan_in))};
  }
  if (ends_with(parameter.name, "running_var") || ends_with(parameter.name, "weight")) return {1, 0.125F};
  return {0, 0.125F};
}

}  // namespace

void load_state_dict(Module& module, const StateDict& state, const std::string& optional_prefix) {
  std::map<std::string, std::pair<std::string, const Tensor*>> found;  // our name → its name in `state`
  std::vector<std::string> problems;
  std::map<std::string, const Parameter*> known;
  const std::vector<Parameter> parameters = parameters_of(module);
  for (const Parameter& parameter : parameters) known[parameter.name] = &parameter;

  const auto has_prefix = [&](const std::string& name) {
    return !optional_prefix.empty() && name.rfind(optional_prefix, 0) == 0;
  };
  // A whole detector's checkpoint: names outside the prefix belong to its other modules.
  const bool whole_checkpoint =
      std::any_of(state.begin(), state.end(), [&](const auto& entry) { return has_prefix(entry.first); });
  for (const auto& [name, tensor] : state) {
    if (ends_with(name, "num_batches_tracked")) continue;
    const bool prefixed = has_prefix(name);
    if (whole_checkpoint && !prefixed) continue;
    std::string ours = prefixed ? name.substr(optional_prefix.size()) : name;
    if (known.count(ours) == 0 && known.count(name) != 0) ours = name;
    if (known.count(ours) == 0) {
      problems.push_back(fmt::format("unexpected {} {}", name, tensor.str()));
      continue;
    }
    const auto [it, is_new] = found.try_emplace(ours, name, &tensor);
    if (!is_new) problems.push_back(fmt::format("given twice: {} and {}", it->second.first, name));
  }
  for (const Parameter& parameter : parameters) {
    const auto it = found.find(parameter.name);
    if (it == found.end()) {
      problems.push_back(fmt::format("missing {} {}", parameter.name, parameter.shape.str()));
    } else if (!(it->second.second->shape() == parameter.shape)) {
      problems.push_back(fmt::format("misshapen {}: expected {}, got {}", it->second.first,
                                     parameter.shape.str(), it->second.second->str()));
    }
  }
  if (!problems.empty()) {
    std::string message =
        fmt::format("[load_state_dict] {} of {} parameters and {} given tensors do not fit:", problems.size(),
                    parameters.size(), state.size());
    for (const std::string& problem : problems) message += "\n  " + problem;
    throw InvalidArgument(message);
  }
  std::map<std::string, Tensor> converted;  // all of them before the first is set
  for (const auto& [name, given] : found) converted[name] = given.second->to(DType::kF32);
  for (const Parameter& parameter : parameters) parameter.set(converted.at(parameter.name));
}

StateDict state_dict(Module& module) {
  StateDict state;
  for (const Parameter& parameter : parameters_of(module)) state[parameter.name] = parameter.get();
  return state;
}

void init_weights(Module& module, std::uint64_t seed) {
  for (const Parameter& parameter : parameters_of(module)) {
    NamedStream stream(seed, parameter.name);
    const Spread spread = spread_of(parameter);
    Tensor tensor = Tensor::empty(parameter.shape, DType::kF32);
    float* values = tensor.mutable_data<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      values[i] = spread.centre + spread.half_width * stream.signed_unit();
    parameter.set(tensor);
  }
}

}  // namespace aerogel::nn
