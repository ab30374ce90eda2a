#include "view_options.h"

#include <filesystem>

#include "io/parsers.h"

namespace aerogel::cli {

Viewpoint ViewOptions::viewpoint(const std::string& source) const {
  Viewpoint viewpoint;
  viewpoint.azimuth = azimuth;
  viewpoint.elevation = elevation;
  const std::string ending = io::lower_case(std::filesystem::path(source).extension().string());
  viewpoint.up = !up.empty() ? parse_up(up) : ending == ".obj" || ending == ".glb" ? Up::kY : Up::kZ;
  return viewpoint;
}

void add_view_options(CLI::App& command, ViewOptions& options, const std::string& without) {
  command
      .add_option(
          "--view", options.view,
          "bev: from above, along z; perspective: cells as boxes, from in front, the right and above; "
          "both. Without it: " +
              without)
      ->check(CLI::IsMember({"bev", "perspective", "both"}));
  command
      .add_option(
          "--up", options.up,
          "Axis that points up in a perspective picture: x, y, z, -x, -y, -z. Without it: y of .obj and "
          ".glb, z of everything else; -y suits a camera's frame")
      ->check(CLI::IsMember({"x", "y", "z", "-x", "-y", "-z"}));
  command
      .add_option(
          "--azimuth", options.azimuth,
          "Degrees of a perspective picture's viewpoint to the right of the front, which is +z where y is "
          "up and -y where z is")
      ->capture_default_str()
      ->check(CLI::Range(-360.0, 360.0));
  command.add_option("--elevation", options.elevation, "Degrees of it above the horizon")
      ->capture_default_str()
      ->check(CLI::Range(-85.0, 85.0));
}

}  // namespace aerogel::cli
