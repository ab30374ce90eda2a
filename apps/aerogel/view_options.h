// --view, --up, --azimuth and --elevation of the commands that draw.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "solid_raster.h"

namespace aerogel::cli {

struct ViewOptions {
  std::string view;  // "bev", "perspective", "both" or empty: as suits the input
  std::string up;    // an axis, or empty: as suits the input
  double azimuth = Viewpoint{}.azimuth;
  double elevation = Viewpoint{}.elevation;

  /// Whether the view is to be drawn; `unasked`: where nothing was asked for.
  bool bev(bool unasked) const { return view.empty() ? unasked : view != "perspective"; }
  bool perspective(bool unasked) const { return view.empty() ? unasked : view != "bev"; }
  /// Up is y for .obj and .glb, else z, if nothing was asked for.
  Viewpoint viewpoint(const std::string& source) const;
};

/// Adds them. `without` says which views there are without the first.
void add_view_options(CLI::App& command, ViewOptions& options, const std::string& without);

}  // namespace aerogel::cli
