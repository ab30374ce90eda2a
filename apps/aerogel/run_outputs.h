// The files of a run: features.npz, features.ply and the pictures.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "aerogel/ops/voxelize.h"

#include "cloud.h"
#include "solid_raster.h"

namespace aerogel::cli {

struct RunFiles {
  std::string title;      // "centerpoint (waymo) on lidar_0"
  std::string note;       // "untrained weights", or empty
  std::string meta_json;  // what the run was, kept inside the .npz
  VoxelGrid grid;
  const Cloud* cloud = nullptr;
  Viewpoint viewpoint;  // of perspective pictures
};

/// Where the pictures of one set of sites go; an empty path: not drawn.
struct PicturePaths {
  std::filesystem::path bev;
  std::filesystem::path perspective;
};

/// What the colours of a picture show.
enum class PictureColour {
  kHeight,   // height as colour; from above, points as brightness
  kDensity,  // points of each column, or of each site
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

/// The pictures of the sites (batch, z, y, x) of batch 0.
///   points   [N] i32, points of each site; undefined: 1 each
///   options  kFeature needs a feature
void write_site_pictures(const PicturePaths& paths, const SparseTensor& sites, const Tensor& points,
                         const RunFiles& about, const PictureOptions& options);

/// The pictures of voxels: height as colour, from above points as brightness.
void write_input_pictures(const PicturePaths& paths, const MeanVoxels& voxels, const RunFiles& about);

/// features.npz and features.ply of sites (batch, z, y, x) in `folder`, and their pictures. Returns the
/// shares of the variance that the pictured components explain.
std::vector<double> write_feature_files(const std::filesystem::path& folder, const PicturePaths& paths,
                                        const SparseTensor& features, const RunFiles& about);

}  // namespace aerogel::cli
