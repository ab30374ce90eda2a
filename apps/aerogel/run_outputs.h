// The files of a run: features.npz, features.ply, bev_input.png, bev_features.png.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "aerogel/ops/voxelize.h"

#include "cloud.h"

namespace aerogel::cli {

struct RunFiles {
  std::string title;      // "centerpoint (waymo) on lidar_0"
  std::string note;       // "untrained weights", or empty
  std::string meta_json;  // what the run was, kept inside the .npz
  VoxelGrid grid;
  const Cloud* cloud = nullptr;
};

/// The bird's-eye picture of voxels: height as colour, points as brightness.
void write_input_picture(const std::filesystem::path& path, const MeanVoxels& voxels, const RunFiles& about);

/// features.npz, features.ply and bev_features.png of sites (batch, z, y, x) in `folder`. Returns the shares
/// of the variance that the pictured components explain.
std::vector<double> write_feature_files(const std::filesystem::path& folder, const SparseTensor& features,
                                        const RunFiles& about);

}  // namespace aerogel::cli
