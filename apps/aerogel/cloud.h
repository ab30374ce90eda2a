// Points as a network takes them: columns found by name, missing ones filled with zeros, bad rows dropped,
// large coordinates shifted. Everything that was decided on the way is kept, to be reported.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aerogel/tensor.h"

namespace aerogel::cli {

/// A grid that the input brings along: synthetic shells and fills, and the surfaces of meshes, are one point
/// per cell of theirs.
struct OwnGrid {
  std::array<double, 3> lo;  // x, y, z
  std::array<double, 3> hi;
  std::array<double, 3> voxel;
};

/// What the command line asked for; metres, x, y, z.
struct GridRequest {
  std::string voxel;  // "0.1,0.1,0.15", "0.1" or empty
  std::string range;  // "x0,y0,z0,x1,y1,z1" or empty
};

struct Cloud {
  std::string source;                 // as given: a path or synth:…
  std::string name;                   // short, fit for a file name
  Tensor points;                      // [P, F] f32, x, y, z first
  std::vector<std::string> features;  // [F] names
  std::vector<std::string> renamed;   // "intensity from reflectivity"
  std::vector<std::string> missing;   // features filled with zeros
  std::string surface;                // of a mesh: what was voxelized; else empty
  std::int64_t rows_read = 0;
  std::int64_t rows_not_finite = 0;  // dropped
  std::array<double, 3> origin{};    // subtracted in double before values became f32
  bool shifted = false;
  std::array<double, 3> lo{};  // bounding box after the shift; 0 where there are no points
  std::array<double, 3> hi{};
  std::optional<OwnGrid> own_grid;

  std::int64_t size() const { return points.size(0); }
  double longest_side() const;
};

inline constexpr std::int64_t kDefaultResolution = 200;
inline constexpr std::int64_t kMostResolution = 16384;

struct CloudOptions {
  std::vector<std::string> columns;  // names for raw formats
  bool strict = false;               // refuse rows that are not finite
  std::int64_t resolution =
      kDefaultResolution;  // voxels along a mesh's longest side; 0: its vertices as points
  GridRequest grid;        // cells of a mesh's surface, where they are asked for
};

inline constexpr const char* kInputHelp =
    "Points (.bin, .pcd, .ply, .las, .npy, .npz), a mesh (.obj, .glb, .ply with faces), whose surface is "
    "voxelized, "
    "or synth:lidar:SEED, synth:shell:R, synth:uniform:R:FILL";
inline constexpr const char* kResolutionHelp =
    "Voxels along the longest side of a mesh: those that its surface touches are the points. 0: its vertices "
    "are. "
    "--voxel overrules it; run takes 32 or 16 for decoders of surfaces";

/// Reads a file, or makes "synth:lidar:SEED", "synth:shell:R", "synth:uniform:R:FILL". The points of a mesh
/// are the centres of the voxels that its surface touches.
///   features  x, y, z first; of the others, those that the input lacks become zeros
///   throws    InvalidArgument   x, y or z is absent (lists the columns), or strict and a row is not finite
Cloud read_cloud(const std::string& source, const std::vector<std::string>& features,
                 const CloudOptions& options);

/// As read_cloud, but takes every column of the file as a feature.
Cloud read_cloud_all_columns(const std::string& source, const CloudOptions& options);

/// Files of a folder that io::read_points takes, sorted by name, without those of folders in it; anything
/// else is returned as it is. InvalidArgument if there is none.
std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs);

/// The columns of [N, 3 + C] past x, y and z: [N, C].
Tensor other_columns(const Tensor& features);

/// Lines for the terminal: what was read, dropped, filled and shifted.
std::vector<std::string> describe(const Cloud& cloud);

}  // namespace aerogel::cli
