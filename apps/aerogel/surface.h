// Meshes as points: the centres of the voxels that a surface touches, or the vertices.
#pragma once

#include <cstdint>
#include <string>

#include "aerogel/io.h"

#include "cloud.h"

namespace aerogel::cli {

/// .obj, .glb, and a .ply whose header has faces.
bool is_mesh_file(const std::string& source);

/// x, y, z of the vertices, and r, g, b from 0 to 1 where they have colours.
io::PointTable vertex_table(const io::Mesh& mesh);

struct Surface {
  io::PointTable centres;  ///< x, y, z of the touched voxels, sorted by (z, y, x)
  OwnGrid grid;            ///< as many cells along each axis as along the longest, the mesh in the middle
  std::int64_t faces_not_finite = 0;  ///< left out
  std::string note;                   ///< "5,856 triangles touch 24,000 voxels, 200 along the longest side"
};

/// Voxelizes the surface in cells of `request.voxel`, aligned to `request.range` if it is given, else of the
/// longest side / `resolution`.
///   throws InvalidArgument   resolution below 1, more than 2^31 - 1 cells along an axis
Surface voxelize_surface(const io::Mesh& mesh, std::int64_t resolution, const GridRequest& request);

}  // namespace aerogel::cli
