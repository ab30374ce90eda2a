// Which voxel size and box a cloud gets, and why.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "aerogel/nn.h"
#include "aerogel/ops/voxelize.h"

#include "cloud.h"

namespace aerogel::cli {

struct GridChoice {
  VoxelGrid grid;
  std::string rule;  // one line: which of the rules below applied
};

/// The rules, in this order; kGridHelp tells them to the user.
///  1. --voxel and --range where they are given.
///  2. A synthetic shell or fill, and the surface of a mesh, keep their own cells.
///  3. An object-sized cloud, one whose longest side is under 200 default voxels, gets its own box and its
///  longest
///     side / 200, or / NetworkInfo::resolution where there is one; so does any cloud of a network without a
///     default box.
///  4. Otherwise the network's voxel and box, unless under a tenth of the points fall into it: then as 3.
/// `network` may be null: then always the cloud's own box.
GridChoice choose_grid(const Cloud& cloud, const nn::NetworkInfo* network, const GridRequest& request);

/// One number or three; InvalidArgument naming --voxel otherwise.
std::array<double, 3> parse_voxel(const std::string& text);

/// For PointOptions of a command that has a network.
inline constexpr const char* kGridHelp =
    "the network's own. An object-sized cloud (longest side under 200 of the network's voxels), or one of "
    "which "
    "under a tenth of the points fall into the network's box, gets its own bounding box and voxels of its "
    "longest "
    "side / 200 (/ 32 and / 16 for decoders of surfaces). Which rule applied is printed";

}  // namespace aerogel::cli
