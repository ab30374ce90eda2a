// `aerogel convert --from --to`: a checkpoint with its convolutions in another layout.
#pragma once

#include <string>
#include <vector>

namespace aerogel::cli {

struct WeightsConversion {
  std::string input;
  std::string output;  // .safetensors
  std::string from;
  std::string to;
  std::vector<std::string> kernels;  // "NAME=3x3x1"
  std::vector<std::string> only;     // prefixes of names; empty: all, of one number of axes
  bool as_json = false;
};

/// Writes the output and prints a line for each tensor that was touched.
///   throws   InvalidArgument   an unknown layout or ending, a kernel that is none, a checkpoint without
///                              convolutions or with ones of 2 and of 3 axes where `only` is empty; as
///                              nn::convert_state_dict
///            FormatError, DeviceError   as io::read_weights and io::write_safetensors
void convert_weights(const WeightsConversion& options);

}  // namespace aerogel::cli
