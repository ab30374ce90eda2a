// Trained weights of any layout into a network.
#pragma once

#include <string>

#include "aerogel/nn.h"
#include "aerogel/weight_layout.h"

namespace aerogel::cli {

/// Loads the checkpoint `path`, whose convolutions are stored in `layout`, strictly. Where one axis holds all
/// taps, the network's own kernels tell what they are. OpenPCDet's `backbone_3d.` in front of names may be
/// there; where it is, all other names are left out.
///   throws   InvalidArgument   as load_state_dict and convert_state_dict; an unknown ending
///            FormatError, DeviceError   as io::read_weights
void load_weights(nn::Module& module, const std::string& path, nn::WeightLayout layout);

/// The layouts as --help lists them.
std::string weight_layouts_help();

}  // namespace aerogel::cli
