// From a point cloud to network features: read, voxelize, run a network, write a .ply that any viewer opens.
// usage: 03_scan_to_features [SCAN.bin|.pcd|.ply|.npz]; without an argument a small made-up cloud is used.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include <aerogel/aerogel.h>

namespace {

/// A cylinder of points around the sensor, [P, 5]: x, y, z, intensity, elongation.
aerogel::Tensor made_up_cloud() {
  std::vector<float> values;
  for (int ring = 0; ring < 16; ++ring) {
    for (int step = 0; step < 720; ++step) {
      const auto angle = static_cast<float>(step) * 0.0087266f;
      values.insert(values.end(),
                    {12 * std::cos(angle), 12 * std::sin(angle), static_cast<float>(ring) * 0.2f, 0.5f, 0});
    }
  }
  return aerogel::Tensor::from<float>({static_cast<std::int64_t>(values.size()) / 5, 5}, values);
}

aerogel::Tensor cloud_of(const char* path) {
  const aerogel::io::PointTable table = aerogel::io::read_points(path);
  aerogel::Tensor points = aerogel::Tensor::zeros({table.rows(), 5}, aerogel::DType::kF32);
  const char* const names[] = {"x", "y", "z", "intensity", "elongation"};
  for (int c = 0; c < 5; ++c) {
    const int column = table.find(names[c]);
    if (column < 0) continue;  // stays zero
    for (std::int64_t p = 0; p < table.rows(); ++p) {
      points.mutable_data<float>()[p * 5 + c] =
          static_cast<float>(table.columns[static_cast<std::size_t>(column)][static_cast<std::size_t>(p)]);
    }
  }
  return points;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace aerogel;
  const Tensor points = argc > 1 ? cloud_of(argv[1]) : made_up_cloud();
  const nn::NetworkInfo& info = nn::network_info("centerpoint");
  VoxelGrid grid;
  for (int axis = 0; axis < 3; ++axis) {
    grid.lo[axis] = info.range[axis];
    grid.hi[axis] = info.range[3 + axis];
    grid.size[axis] = info.voxel[axis];
  }
  const MeanVoxels voxels = voxelize_mean(points, grid);

  const auto network = nn::make_network("centerpoint");
  nn::init_weights(
      *network, /*seed=*/0);  // or nn::load_state_dict(*network, io::read_safetensors("weights.safetensors"))
  nn::Context context;
  const SparseTensor out = network->forward(voxels.voxels, context);
  std::printf("%d points -> %d voxels -> %d sites with %d channels (untrained weights)\n",
              static_cast<int>(points.size(0)), static_cast<int>(voxels.voxels.sites()),
              static_cast<int>(out.sites()), static_cast<int>(out.channels()));

  Tensor xyz = Tensor::empty({out.sites(), 3}, DType::kF32);
  Tensor first = Tensor::empty({out.sites()}, DType::kF32);
  for (std::int64_t i = 0; i < out.sites(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {  // columns are z, y, x; tensor_stride counts input voxels
      const auto cell =
          static_cast<float>(out.coordinates.row(i)[3 - axis] * out.coordinates.tensor_stride()[2 - axis]);
      xyz.mutable_data<float>()[i * 3 + axis] = grid.lo[axis] + cell * grid.size[axis];
    }
    first.mutable_data<float>()[i] = out.features.data<float>()[i * out.channels()];
  }
  io::write_ply("features.ply", xyz, {{"feature_0", first}});
  return out.sites() > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
