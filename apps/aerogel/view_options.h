// --view and --up of the commands that draw.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "solid_raster.h"

namespace aerogel::cli {

struct ViewOptions {
  std::string view;  // "bev", "perspective", "both" or empty: as suits the input
  std::string up;    // an axis, or empty: as suits the input

  /// Whether the view is to be drawn; `unasked`: where nothing was asked for.
  bool bev(bool unasked) const { return view.empty() ? unasked : view != "perspective"; }
  bool perspective(bool unasked) const { return view.empty() ? unasked : view != "bev"; }
  /// y for .obj and .glb, else z, if nothing was asked for.
  Up up_of(const std::string& source) const;
};

/// Adds --view and --up. `without` says which views there are without the first.
void add_view_options(CLI::App& command, ViewOptions& options, const std::string& without);

}  // namespace aerogel::cli
