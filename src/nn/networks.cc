// Every network: its table, and what it expects. Adding one is a table and a line in kNetworks.
#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/layer_table.h"

namespace aerogel::nn {
namespace {

// clang-format off: a table reads by columns.

// VoxelResBackBone8x of OpenPCDet (pcdet/models/backbones_3d/spconv_backbone.py, Apache-2.0), whose norms
// have eps 1e-3.
constexpr LayerRow kCenterPoint[] = {
    // name          kind                C_in C_out kernel     stride     padding    tail             key
    {"conv_input", RowKind::kSubm, 5, 16, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "subm1"},
    {"conv1.0", RowKind::kResidual, 16, 16, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res1"},
    {"conv1.1", RowKind::kResidual, 16, 16, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res1"},
    {"conv2.0", RowKind::kRegular, 16, 32, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, Tail::kNormRelu, "spconv2"},
    {"conv2.1", RowKind::kResidual, 32, 32, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res2"},
    {"conv2.2", RowKind::kResidual, 32, 32, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res2"},
    {"conv3.0", RowKind::kRegular, 32, 64, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, Tail::kNormRelu, "spconv3"},
    {"conv3.1", RowKind::kResidual, 64, 64, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res3"},
    {"conv3.2", RowKind::kResidual, 64, 64, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res3"},
    {"conv4.0", RowKind::kRegular, 64, 128, {3, 3, 3}, {2, 2, 2}, {0, 1, 1}, Tail::kNormRelu, "spconv4"},
    {"conv4.1", RowKind::kResidual, 128, 128, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res4"},
    {"conv4.2", RowKind::kResidual, 128, 128, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "res4"},
    {"conv_out",
     RowKind::kRegular,
     128,
     128,
     {3, 1, 1},
     {2, 1, 1},
     {0, 0, 0},
     Tail::kNormRelu,
     "spconv_down2"},
};

// The small U-Net of the recorded spconv case unet3d_float32; its weights are an spconv state dict, hence
// the head.
constexpr LayerRow kUnet3d[] = {
    {"stem", RowKind::kSubm, 6, 16, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "subm1"},
    {"stem.3", RowKind::kSubm, 16, 16, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNone, "subm1"},
    {"down", RowKind::kRegular, 16, 32, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, Tail::kNone, "down"},
    {"mid", RowKind::kSubm, 32, 32, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, Tail::kNormRelu, "subm2"},
    {"up", RowKind::kInverse, 32, 16, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, Tail::kNone, "down"},
    {"join", RowKind::kConcat, 16, 32, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, Tail::kNone, "stem.3"},
    {"head", RowKind::kSubm, 32, 8, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, Tail::kNone, "", true, true},
};

// clang-format on

struct Network {
  NetworkInfo info;
  LayerTable table;
};

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
       {kCenterPoint, 1e-3}},
      {{"centerpoint",
        "nuscenes",
        "CenterPoint's 3D backbone (VoxelResBackBone8x), nuScenes, 0.075 m voxels",
        {"x", "y", "z", "intensity", "timestamp"},
        {0.075F, 0.075F, 0.2F},
        {-54, -54, -5, 54, 54, 3},
        true,
        1},
       {kCenterPoint, 1e-3}},
      {{"unet3d",
        "",
        "A small 3D U-Net with one strided level, spconv weights",
        {"x", "y", "z", "r", "g", "b"},
        {0, 0, 0},
        {0, 0, 0, 0, 0, 0},
        false,
        0},
       {kUnet3d, 1e-5}},
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
  return make_table_network(find(name, variant).table);
}

std::string network_table(std::string_view name, std::string_view variant) {
  return markdown(find(name, variant).table);
}

}  // namespace aerogel::nn
