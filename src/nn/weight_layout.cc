// Weight layouts as orders of the canonical axes: each is one line of a table.
#include "aerogel/weight_layout.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/layout_table.h"

namespace aerogel::nn {
namespace {

constexpr std::array<LayoutRow, 7> kLayouts = {{
    {"canonical", "oki"},
    {"spconv1", "kio"},
    {"spconv2.0", "koi"},
    {"torch", "oik"},
    {"mlx", "kio", true},
    {"minkowski", "kio", true, LayoutRow::Taps::kFirstFastest, true},
    {"torchsparse", "kio", true, LayoutRow::Taps::kByParity, true},  // first axis fastest for odd K
}};

/// Other names of a layout.
constexpr std::array<std::pair<std::string_view, WeightLayout>, 1> kAliases = {
    {{"spconv2.2", WeightLayout::kCanonical}}};

/// The canonical axes (0 = C_out, 1 … ndim = taps, ndim + 1 = C_in) in the order they are stored in.
std::vector<int> stored_axes(const LayoutRow& layout, int ndim, std::int64_t volume) {
  const bool reversed = layout.taps == LayoutRow::Taps::kFirstFastest ||
                        (layout.taps == LayoutRow::Taps::kByParity && volume % 2 == 1);
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
bool is_matrix(const LayoutRow& layout, std::int64_t volume) { return layout.kernel_name && volume == 1; }

[[noreturn]] void refuse(const LayoutRow& layout, const Tensor& stored, const std::string& expected) {
  throw InvalidArgument(
      fmt::format("[import_weight] layout {}: expected {}, got {}", layout.name, expected, stored.str()));
}

/// [k0, …] of `stored`, from its own axes or from `kernel`.
Dims kernel_of(const LayoutRow& layout, const Tensor& stored, const Dims& kernel) {
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

}  // namespace

const LayoutRow& layout_row(WeightLayout layout) noexcept {
  return kLayouts[static_cast<std::size_t>(layout)];
}

std::string_view weight_layout_name(WeightLayout layout) noexcept { return layout_row(layout).name; }

WeightLayout parse_weight_layout(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    if (kLayouts[i].name == name) return static_cast<WeightLayout>(i);
    known += (i ? ", " : "") + std::string(kLayouts[i].name);
  }
  for (const auto& [alias, layout] : kAliases) {
    if (alias == name) return layout;
    known += fmt::format(", {} (= {})", alias, weight_layout_name(layout));
  }
  throw InvalidArgument(fmt::format("unknown weight layout '{}'; known: {}", name, known));
}

Tensor import_weight(const Tensor& stored, WeightLayout from, const Dims& kernel) {
  const LayoutRow& layout = layout_row(from);
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
  const LayoutRow& layout = layout_row(to);
  const int ndim = canonical.shape().size() - 2;
  if (ndim < 1 || ndim > kMaxNdim)
    throw InvalidArgument(
        fmt::format("[export_weight] expected [C_out, k0, …, C_in], got {}", canonical.str()));
  Dims taps;
  for (int tap = 1; tap <= ndim; ++tap) taps.push_back(canonical.size(tap));
  const std::int64_t volume = taps.product();
  Tensor stored = canonical.permute(stored_axes(layout, ndim, volume)).clone();
  if (!layout.one_tap_axis) return stored;
  const std::int64_t c_in = canonical.size(ndim + 1);
  const std::int64_t c_out = canonical.size(0);
  return is_matrix(layout, volume) ? stored.reshape({c_in, c_out}) : stored.reshape({volume, c_in, c_out});
}

}  // namespace aerogel::nn
