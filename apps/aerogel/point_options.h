// The options of every command that reads points.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cloud.h"
#include "grid_choice.h"

namespace aerogel::cli {

struct PointOptions {
  GridRequest grid;
  std::string columns;  // "x,y,z,intensity" or empty
  bool strict = false;
  std::int64_t resolution = kDefaultResolution;  // of a mesh

  CloudOptions cloud() const;
};

/// Adds --voxel, --range, --resolution, --columns and --strict. `without` says which cells and box there are
/// without the first two.
void add_point_options(CLI::App& command, PointOptions& options, const std::string& without);

}  // namespace aerogel::cli
