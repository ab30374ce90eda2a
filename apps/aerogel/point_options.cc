#include "point_options.h"

#include "text.h"

namespace aerogel::cli {

CloudOptions PointOptions::cloud() const {
  CloudOptions read;
  if (!columns.empty()) read.columns = split_commas(columns);
  read.strict = strict;
  read.resolution = resolution;
  read.grid = grid;
  return read;
}

void add_point_options(CLI::App& command, PointOptions& options, const std::string& without) {
  command.add_option("--voxel", options.grid.voxel,
                     "Voxel size in metres, x,y,z or one number. Without --voxel and --range: " + without);
  command.add_option("--range", options.grid.range, "Box in metres, x0,y0,z0,x1,y1,z1");
  command.add_option("--resolution", options.resolution, kResolutionHelp)
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, kMostResolution));
  command.add_option("--columns", options.columns,
                     "Names of the columns of .bin, .npy and .npz, such as x,y,z,intensity");
  command.add_flag("--strict", options.strict,
                   "Refuse rows that are not finite, instead of dropping and counting them");
}

}  // namespace aerogel::cli
