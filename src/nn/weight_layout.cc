// Weight layouts as orders of the canonical axes: each is one line of a table.
#include "aerogel/weight_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "aerogel/error.h"

namespace aerogel::nn {
namespace {

enum class Taps : std::uint8_t { kLastFastest, kFirstFastest, kByParity };

/// Where C_out ('o'), the taps ('k') and C_in ('i') stand, slowest first.
struct Layout {
  std::string_view name;
  std::string_view order;
  bool one_tap_axis = false;
  Taps taps = Taps::kLastFastest;
  bool kernel_name = false;  // the parameter is called `kernel`
};

constexpr std::array<Layout, 7> kLayouts = {{
    {"canonical", "oki"},
    {"spconv1", "kio"},
    {"spconv2.0", "koi"},
    {"torch", "oik"},
    {"mlx", "kio", true},
    {"minkowski", "kio", true, Taps::kFirstFastest, true},
    {"torchsparse", "kio", true, Taps::kByParity, true},  // first axis fastest for odd K
}};

const Layout& describe(WeightLayout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }

/// The canonical axes (0 = C_out, 1 … ndim = taps, ndim + 1 = C_in) in the order they are stored in.
std::vector<int> stored_axes(const Layout& layout, int ndim, std::int64_t volume) {
  const bool reversed =
      layout.taps == Taps::kFirstFastest || (layout.taps == Taps::kByParity && volume % 2 == 1);
  std::vector<int> axes;
  for (const char letter : layout.order) {
    if (letter == 'o') axes.push_back(0);
    if (letter == 'i') axes.push_back(ndim + 1);
    if (letter == 'k') {
      for (int tap = 0; tap < ndim; ++tap) axes.push_back(reversed ? ndim - tap : tap + 1);
    }
  }
  return axes;
}

/// A pointwise kernel that MinkowskiEngine and TorchSparse store as a matrix.
bool is_matrix(const Layout& layout, std::int64_t volume) { return layout.kernel_name && volume == 1; }

[[noreturn]] void refuse(const Layout& layout, const Tensor& stored, const std::string& expected) {
  throw InvalidArgument(
      fmt::format("[import_weight] layout {}: expected {}, got {}", layout.name, expected, stored.str()));
}

/// [k0, …] of `stored`, from its own axes or from `kernel`.
Dims kernel_of(const Layout& layout, const Tensor& stored, const Dims& kernel) {
  const int rank = stored.shape().size();
  if (!layout.one_tap_axis) {
    if (rank < 3 || rank > kMaxNdim + 2) refuse(layout, stored, fmt::format("3 to {} axes", kMaxNdim + 2));
    Dims own;
    const auto begin = static_cast<int>(layout.order.find('k'));
    for (int axis = 0; axis < rank - 2; ++axis) own.push_back(stored.size(begin + axis));
    if (!kernel.empty() && !(kernel == own)) refuse(layout, stored, "kernel " + kernel.joined('x'));
    return own;
  }
  if (kernel.empty()) refuse(layout, stored, "a kernel size, since one axis holds all taps");
  if (is_matrix(layout, kernel.product()) && rank == 2) return kernel;
  if (rank != 3 || stored.size(0) != kernel.product())
    refuse(layout, stored,
           fmt::format("[{}, C_in, C_out] for kernel {}", kernel.product(), kernel.joined('x')));
  return kernel;
}

/// Where a parameter's own name begins: behind the last dot.
std::size_t leaf_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? 0 : dot + 1;
}

bool is_convolution(const Layout& layout, const std::string& name, const Tensor& tensor) {
  const std::string leaf = name.substr(leaf_of(name));
  return layout.kernel_name ? leaf == "kernel" : leaf == "weight" && tensor.shape().size() >= 3;
}

/// k×k×k where K is a cube; empty otherwise.
Dims cube_kernel(std::int64_t volume) {
  const std::int64_t side = std::llround(std::cbrt(static_cast<double>(volume)));
  return side * side * side == volume ? Dims{side, side, side} : Dims{};
}

/// The name a passed-through tensor gets: MinkowskiBatchNorm holds a torch norm called `bn`.
std::string own_name(WeightLayout layout, const std::string& name) {
  const std::size_t leaf = leaf_of(name);
  if (layout != WeightLayout::kMinkowski || leaf < 4 || name.compare(leaf - 4, 4, ".bn.") != 0) return name;
  return name.substr(0, leaf - 3) + name.substr(leaf);
}

}  // namespace

std::string_view weight_layout_name(WeightLayout layout) noexcept { return describe(layout).name; }

WeightLayout parse_weight_layout(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    if (kLayouts[i].name == name) return static_cast<WeightLayout>(i);
    known += (i ? ", " : "") + std::string(kLayouts[i].name);
  }
  throw InvalidArgument(fmt::format("unknown weight layout '{}'; known: {}", name, known));
}

Tensor import_weight(const Tensor& stored, WeightLayout from, const Dims& kernel) {
  const Layout& layout = describe(from);
  const Dims taps = kernel_of(layout, stored, kernel);
  const std::vector<int> axes = stored_axes(layout, taps.size(), taps.product());
  // C_out and C_in by their place among the axes as stored, where the taps are one axis or several.
  const auto extent = [&](char letter) {
    const int rank = stored.shape().size();
    const auto place = static_cast<int>(layout.order.find(letter));
    const bool behind_taps = layout.order.find('k') < layout.order.find(letter);
    return stored.size(behind_taps ? place + rank - 3 : place);
  };
  Dims unfolded;
  std::vector<int> place(axes.size());  // canonical axis → its axis in `unfolded`
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = axes[i];
    unfolded.push_back(axis == 0 ? extent('o') : axis > taps.size() ? extent('i') : taps[axis - 1]);
    place[static_cast<std::size_t>(axis)] = static_cast<int>(i);
  }
  return stored.contiguous().reshape(unfolded).permute(place).clone();
}

Tensor export_weight(const Tensor& canonical, WeightLayout to) {
  const Layout& layout = describe(to);
  const int ndim = canonical.shape().size() - 2;
  if (ndim < 1 || ndim > kMaxNdim)
    throw InvalidArgument(
        fmt::format("[export_weight] expected [C_out, k0, …, C_in], got {}", canonical.str()));
  std::int64_t volume = 1;
  for (int tap = 1; tap <= ndim; ++tap) volume *= canonical.size(tap);
  Tensor stored = canonical.permute(stored_axes(layout, ndim, volume)).clone();
  if (!layout.one_tap_axis) return stored;
  const std::int64_t c_in = canonical.size(ndim + 1);
  const std::int64_t c_out = canonical.size(0);
  return is_matrix(layout, volume) ? stored.reshape({c_in, c_out}) : stored.reshape({volume, c_in, c_out});
}

std::map<std::string, Tensor> import_state_dict(const std::map<std::string, Tensor>& state, WeightLayout from,
                                                const std::map<std::string, Dims>& kernels) {
  const Layout& layout = describe(from);
  std::map<std::string, Tensor> out;
  std::vector<std::string> problems;
  const auto put = [&](const std::string& name, const std::string& was, const Tensor& tensor) {
    if (!out.emplace(name, tensor).second)
      problems.push_back(fmt::format("{} would become {}, which is there already", was, name));
  };
  for (const auto& [name, kernel] : kernels) {
    const auto it = state.find(name);
    if (it == state.end() || !is_convolution(layout, name, it->second))
      problems.push_back(
          fmt::format("{} has a kernel {} given, but is no convolution here", name, kernel.joined('x')));
  }
  for (const auto& [name, tensor] : state) {
    if (!is_convolution(layout, name, tensor)) {
      const bool row = from == WeightLayout::kMinkowski && tensor.shape().size() == 2 &&
                       tensor.size(0) == 1 && name.substr(leaf_of(name)) == "bias";
      put(own_name(from, name), name, row ? tensor.contiguous().reshape({tensor.size(1)}) : tensor);
      continue;
    }
    Dims kernel;
    if (const auto given = kernels.find(name); given != kernels.end()) {
      kernel = given->second;
    } else if (layout.one_tap_axis) {
      const bool matrix = layout.kernel_name && tensor.shape().size() == 2;
      kernel = cube_kernel(matrix ? 1 : tensor.size(0));
      if (kernel.empty()) {
        problems.push_back(fmt::format("{} {}: {} taps are no cube; give its kernel size", name, tensor.str(),
                                       tensor.size(0)));
        continue;
      }
    }
    try {
      put(layout.kernel_name ? name.substr(0, leaf_of(name)) + "weight" : name, name,
          import_weight(tensor, from, kernel));
    } catch (const InvalidArgument& error) {
      problems.push_back(name + ": " + error.what());
    }
  }
  if (problems.empty()) return out;
  std::string message =
      fmt::format("[import_state_dict] layout {}: {} of {} tensors do not fit:", layout.name, problems.size(),
                  state.size());
  for (const std::string& problem : problems) message += "\n  " + problem;
  throw InvalidArgument(message);
}

}  // namespace aerogel::nn
