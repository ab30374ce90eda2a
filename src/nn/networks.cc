// Every network: what it expects, and its table. Adding one is a table and an entry here.
#include <functional>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/network_tables.h"

namespace aerogel::nn {
namespace {

struct Network {
  NetworkInfo info;
  std::function<LayerTable()> table;
};

/// x, y, z and zeros: there is no encoder here, so a decoder's latents are stand-ins.
std::vector<std::string> latents() {
  std::vector<std::string> names = {"x", "y", "z"};
  for (int i = 3; i < 32; ++i) names.push_back(fmt::format("latent{}", i));
  return names;
}

const std::vector<Network>& networks() {
  static const std::vector<Network> all = {
      {{"centerpoint",
        "waymo",
        "CenterPoint's 3D backbone (VoxelResBackBone8x), Waymo, 0.1 m voxels",
        {"x", "y", "z", "intensity", "elongation"},
        {0.1F, 0.1F, 0.15F},
        {-75.2F, -75.2F, -2, 75.2F, 75.2F, 4},
        true,
        1},
       centerpoint_table},
      {{"centerpoint",
        "nuscenes",
        "CenterPoint's 3D backbone (VoxelResBackBone8x), nuScenes, 0.075 m voxels",
        {"x", "y", "z", "intensity", "timestamp"},
        {0.075F, 0.075F, 0.2F},
        {-54, -54, -5, 54, 54, 3},
        true,
        1},
       centerpoint_table},
      {{"second",
        "",
        "SECOND's 3D backbone (VoxelBackBone8x), KITTI, 0.05 m voxels",
        {"x", "y", "z", "intensity"},
        {0.05F, 0.05F, 0.1F},
        {0, -40, -3, 70.4F, 40, 1},
        true,
        1},
       second_table},
      {{"voxelnext",
        "",
        "VoxelNeXt's encoder, nuScenes, 0.075 m voxels: six levels, summed to a bird's-eye view, two 2-D "
        "layers",
        {"x", "y", "z", "intensity", "timestamp"},
        {0.075F, 0.075F, 0.2F},
        {-54, -54, -5, 54, 54, 3},
        true,
        1},
       voxelnext_table},
      {{"minkunet18",
        "",
        "MinkUNet18 for SemanticKITTI (SPVNAS, TorchSparse), 0.05 m voxels, 19 classes",
        {"x", "y", "z", "intensity"},
        {0.05F, 0.05F, 0.05F},
        {-51.2F, -51.2F, -4, 51.2F, 51.2F, 4},
        true,
        0},
       [] {
         return minkunet_table({2, 2, 2, 2});
       }},
      {{"minkunet34",
        "",
        "MinkUNet34 for SemanticKITTI: as minkunet18 with 2, 3, 4 and 6 blocks on the way down",
        {"x", "y", "z", "intensity"},
        {0.05F, 0.05F, 0.05F},
        {-51.2F, -51.2F, -4, 51.2F, 51.2F, 4},
        true,
        0},
       [] {
         return minkunet_table({2, 3, 4, 6});
       }},
      {{"spunet",
        "",
        "SpUNet for indoor scans (Pointcept, spconv), 5×5×5 stem, 20 classes",
        {"r", "g", "b", "nx", "ny", "nz"},
        {0, 0, 0},
        {0, 0, 0, 0, 0, 0},
        false,
        0},
       spunet_table},
      {{"cylinder3d",
        "",
        "Cylinder3D's asymmetric U-Net for SemanticKITTI, on Cartesian cells here",
        {"x", "y", "z", "intensity", "reserved"},
        {0.2F, 0.2F, 0.2F},
        {-50, -50, -4, 50, 50, 2.4F},
        true,
        0},
       cylinder3d_table},
      {{"trellis2-shape-decoder",
        "",
        "TRELLIS.2's shape decoder, 32 latent channels on a 32³ grid to 7 on 512³",
        latents(),
        {0, 0, 0},
        {0, 0, 0, 0, 0, 0},
        false,
        0,
        true,
        32},
       trellis2_shape_decoder_table},
      {{"lato2-decoder",
        "",
        "LATO.2's vertex decoder (channels assumed), 32 latent channels, four levels of subdivide and prune",
        latents(),
        {0, 0, 0},
        {0, 0, 0, 0, 0, 0},
        false,
        0,
        true,
        16},
       lato2_decoder_table},
      {{"unet3d",
        "",
        "A small 3D U-Net with one strided level, spconv weights",
        {"x", "y", "z", "r", "g", "b"},
        {0, 0, 0},
        {0, 0, 0, 0, 0, 0},
        false,
        0},
       unet3d_table},
  };
  return all;
}

const Network& find(std::string_view name, std::string_view variant) {
  std::string known;
  for (const Network& network : networks()) {
    if (network.info.name == name && (variant.empty() || network.info.variant == variant)) return network;
    known += (known.empty() ? "" : ", ") + network.info.name;
    if (!network.info.variant.empty()) known += ":" + network.info.variant;
  }
  throw InvalidArgument(fmt::format("[make_network] no network '{}'{}; known: {}", name,
                                    variant.empty() ? "" : fmt::format(" of variant '{}'", variant), known));
}

}  // namespace

const std::vector<NetworkInfo>& list_networks() {
  static const std::vector<NetworkInfo> infos = [] {
    std::vector<NetworkInfo> all;
    for (const Network& network : networks()) all.push_back(network.info);
    return all;
  }();
  return infos;
}

const NetworkInfo& network_info(std::string_view name, std::string_view variant) {
  return find(name, variant).info;
}

std::unique_ptr<Module> make_network(std::string_view name, std::string_view variant) {
  return make_table_network(find(name, variant).table());
}

std::string network_table(std::string_view name, std::string_view variant) {
  return markdown(find(name, variant).table());
}

}  // namespace aerogel::nn
