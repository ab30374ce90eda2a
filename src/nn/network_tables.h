// The table of every network, each made by one function; networks.cc says what they expect.
#pragma once

#include "nn/layer_table.h"

namespace aerogel::nn {

LayerTable centerpoint_table();
LayerTable second_table();
LayerTable voxelnext_table();
LayerTable unet3d_table();
LayerTable cylinder3d_table();
LayerTable spunet_table();
LayerTable minkunet_table(const std::vector<int>& encoder_blocks);

LayerTable trellis2_shape_decoder_table();
LayerTable lato2_decoder_table();

}  // namespace aerogel::nn
