// What each weight layout is: a line of a table that importers, exporters and checkpoints read.
#pragma once

#include <cstdint>
#include <string_view>

#include "aerogel/weight_layout.h"

namespace aerogel::nn {

/// Where C_out ('o'), the taps ('k') and C_in ('i') stand, slowest first.
struct LayoutRow {
  enum class Taps : std::uint8_t { kLastFastest, kFirstFastest, kByParity };

  std::string_view name;
  std::string_view order;
  bool one_tap_axis = false;
  Taps taps = Taps::kLastFastest;
  bool kernel_name = false;  // the parameter is called `kernel`
};

const LayoutRow& layout_row(WeightLayout layout) noexcept;

}  // namespace aerogel::nn
