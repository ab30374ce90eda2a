#include "view_options.h"

#include <filesystem>

#include "io/parsers.h"

namespace aerogel::cli {

Up ViewOptions::up_of(const std::string& source) const {
  if (!up.empty()) return parse_up(up);
  const std::string ending = io::lower_case(std::filesystem::path(source).extension().string());
  return ending == ".obj" || ending == ".glb" ? Up::kY : Up::kZ;
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
}

}  // namespace aerogel::cli
