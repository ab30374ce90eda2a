// 3-D backbones of LiDAR detectors, with OpenPCDet's names (pcdet/models/backbones_3d, Apache-2.0), whose
// norms have eps 1e-3.
#include "nn/network_tables.h"

namespace aerogel::nn {
namespace {

constexpr double kOpenPcdetEps = 1e-3;

/// A convolution to the next level: half the extent, or with other padding.
LayerRow down(const std::string& name, std::int64_t c_in, std::int64_t c_out, const Dims& padding,
              const std::string& key) {
  return {.name = name,
          .kind = RowKind::kRegular,
          .c_in = c_in,
          .c_out = c_out,
          .stride = {2, 2, 2},
          .padding = padding,
          .key = key};
}

LayerRow subm(const std::string& name, std::int64_t c_in, std::int64_t c_out, const std::string& key) {
  return {.name = name, .c_in = c_in, .c_out = c_out, .key = key};
}

LayerRow residual(const std::string& name, std::int64_t channels, const std::string& key) {
  return {.name = name,
          .kind = RowKind::kResidual,
          .c_in = channels,
          .c_out = channels,
          .key = key,
          .bias = true};
}

/// The last layer: z alone is halved.
LayerRow flatten_z(std::int64_t c_in) {
  return {.name = "conv_out",
          .kind = RowKind::kRegular,
          .c_in = c_in,
          .c_out = 128,
          .kernel = {3, 1, 1},
          .stride = {2, 1, 1},
          .padding = {0, 0, 0},
          .key = "spconv_down2"};
}

}  // namespace

// VoxelResBackBone8x.
LayerTable centerpoint_table() {
  return {{
              subm("conv_input", 5, 16, "subm1"),
              residual("conv1.0", 16, "res1"),
              residual("conv1.1", 16, "res1"),
              down("conv2.0", 16, 32, {1, 1, 1}, "spconv2"),
              residual("conv2.1", 32, "res2"),
              residual("conv2.2", 32, "res2"),
              down("conv3.0", 32, 64, {1, 1, 1}, "spconv3"),
              residual("conv3.1", 64, "res3"),
              residual("conv3.2", 64, "res3"),
              down("conv4.0", 64, 128, {0, 1, 1}, "spconv4"),
              residual("conv4.1", 128, "res4"),
              residual("conv4.2", 128, "res4"),
              flatten_z(128),
          },
          kOpenPcdetEps};
}

// VoxelBackBone8x.
LayerTable second_table() {
  return {{
              subm("conv_input", 4, 16, "subm1"),
              subm("conv1.0", 16, 16, "subm1"),
              down("conv2.0", 16, 32, {1, 1, 1}, "spconv2"),
              subm("conv2.1", 32, 32, "subm2"),
              subm("conv2.2", 32, 32, "subm2"),
              down("conv3.0", 32, 64, {1, 1, 1}, "spconv3"),
              subm("conv3.1", 64, 64, "subm3"),
              subm("conv3.2", 64, 64, "subm3"),
              down("conv4.0", 64, 64, {0, 1, 1}, "spconv4"),
              subm("conv4.1", 64, 64, "subm4"),
              subm("conv4.2", 64, 64, "subm4"),
              flatten_z(64),
          },
          kOpenPcdetEps};
}

// VoxelResBackBone8xVoxelNeXt: three levels more than centerpoint, the last three brought onto the grid of
// level 4 and summed over z, then two 2-D layers.
LayerTable voxelnext_table() {
  const Dims half = {1, 1, 1};
  const auto level = [&](std::vector<LayerRow>& rows, int number, std::int64_t c_in, std::int64_t c_out) {
    const std::string conv = "conv" + std::to_string(number);
    const std::string key = "res" + std::to_string(number);
    rows.push_back(down(conv + ".0", c_in, c_out, half, "spconv" + std::to_string(number)));
    rows.push_back(residual(conv + ".1", c_out, key));
    rows.push_back(residual(conv + ".2", c_out, key));
  };
  LayerTable table{
      {subm("conv_input", 5, 16, "subm1"), residual("conv1.0", 16, "res1"), residual("conv1.1", 16, "res1")},
      kOpenPcdetEps};
  level(table.rows, 2, 16, 32);
  level(table.rows, 3, 32, 64);
  level(table.rows, 4, 64, 128);
  level(table.rows, 5, 128, 128);
  level(table.rows, 6, 128, 128);
  const auto flat = [&](const std::string& name, const std::string& in, std::int64_t factor) {
    table.rows.push_back({.name = name,
                          .kind = RowKind::kBirdsEye,
                          .c_in = 128,
                          .c_out = 128,
                          .stride = {factor, factor, factor},
                          .in = in});
  };
  flat("bev4", "conv4.2", 1);
  flat("bev5", "conv5.2", 2);
  flat("bev6", "conv6.2", 4);
  table.rows.push_back(
      {.name = "bev56", .kind = RowKind::kAddUnion, .c_in = 128, .c_out = 128, .with = "bev5"});
  table.rows.push_back(
      {.name = "bev", .kind = RowKind::kAddUnion, .c_in = 128, .c_out = 128, .with = "bev4"});
  table.rows.push_back({.name = "conv_out",
                        .kind = RowKind::kRegular,
                        .c_in = 128,
                        .c_out = 128,
                        .kernel = {3, 3},
                        .stride = {1, 1},
                        .padding = {1, 1},
                        .key = "spconv_down2"});
  table.rows.push_back(
      {.name = "shared_conv", .c_in = 128, .c_out = 128, .kernel = {3, 3}, .key = "share", .bias = true});
  return table;
}

}  // namespace aerogel::nn
