// Decoders of 3-D generators: from a few thousand latent voxels up four levels, making sites on the way.
#include <fmt/core.h>

#include "nn/network_tables.h"

namespace aerogel::nn {

// The shape decoder of TRELLIS.2 (trellis2/models/sc_vaes, MIT): 4, 16, 8 and 4 ConvNeXt blocks, each level
// ended by a channels-to-space block; parameters as in its checkpoints.
LayerTable trellis2_shape_decoder_table() {
  constexpr std::int64_t kChannels[] = {1024, 512, 256, 128, 64};
  constexpr int kBlocks[] = {4, 16, 8, 4};
  LayerTable table{{}, 1e-5};
  table.rows.push_back(
      {.name = "from_latent", .kind = RowKind::kLinear, .c_in = 32, .c_out = 1024, .bias = true});
  for (int level = 0; level < 4; ++level) {
    for (int i = 0; i < kBlocks[level]; ++i)
      table.rows.push_back({.name = fmt::format("blocks.{}.{}", level, i),
                            .kind = RowKind::kConvNext,
                            .c_in = kChannels[level],
                            .c_out = kChannels[level]});
    table.rows.push_back({.name = fmt::format("blocks.{}.{}", level, kBlocks[level]),
                          .kind = RowKind::kChannelsUp,
                          .c_in = kChannels[level],
                          .c_out = kChannels[level + 1]});
  }
  table.rows.push_back({.name = "norm", .kind = RowKind::kLayerNorm, .c_in = 64, .c_out = 64});
  table.rows.push_back(
      {.name = "output_layer", .kind = RowKind::kLinear, .c_in = 64, .c_out = 7, .bias = true});
  return table;
}

// The vertex decoder of LATO.2: four TRELLIS subdivide blocks with pruning between them. Channels are
// assumed, and `occupancy` is our name, since its configuration is not published with the code.
LayerTable lato2_decoder_table() {
  constexpr std::int64_t kChannels[] = {512, 256, 128, 64, 64};
  LayerTable table;
  table.rows.push_back(
      {.name = "input_layer", .kind = RowKind::kLinear, .c_in = 32, .c_out = 512, .bias = true});
  for (int level = 0; level < 4; ++level) {
    table.rows.push_back({.name = fmt::format("decoder_vtx.{}", level),
                          .kind = RowKind::kSubdivideUp,
                          .c_in = kChannels[level],
                          .c_out = kChannels[level + 1]});
  }
  return table;
}

}  // namespace aerogel::nn
