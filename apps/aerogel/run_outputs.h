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

/// What the colours of a bird's-eye picture show.
enum class PictureColour {
  kHeight,   // height as colour, points as brightness
  kDensity,  // points of each column
  kFeature,  // one feature through the colour map, or the first three principal components of several
};

struct PictureOptions {
  PictureColour colour = PictureColour::kHeight;
  int long_side = 1400;               // pixels
  std::string unit = "m";             // of about.grid
  std::string feature_name;           // legend where there is one feature
  std::string site_name = "sites";    // "input sites", for the caption
  std::string point_name = "points";  // what `points` counts, for the legend
};

/// The bird's-eye picture of the sites (batch, z, y, x) of batch 0.
///   points   [N] i32, points of each site; undefined: 1 each
///   options  kFeature needs a feature
void write_site_picture(const std::filesystem::path& path, const SparseTensor& sites, const Tensor& points,
                        const RunFiles& about, const PictureOptions& options);

/// The bird's-eye picture of voxels: height as colour, points as brightness.
void write_input_picture(const std::filesystem::path& path, const MeanVoxels& voxels, const RunFiles& about);

/// features.npz, features.ply and bev_features.png of sites (batch, z, y, x) in `folder`. Returns the shares
/// of the variance that the pictured components explain.
std::vector<double> write_feature_files(const std::filesystem::path& folder, const SparseTensor& features,
                                        const RunFiles& about);

}  // namespace aerogel::cli
