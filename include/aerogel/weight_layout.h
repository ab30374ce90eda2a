// Convolution weights as other libraries store them, to and from ours. A layout is declared, never guessed:
// shapes are ambiguous.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "aerogel/tensor.h"

namespace aerogel::nn {

/// Who stored a convolution's weights. n taps axes k0 … follow the coordinate columns.
enum class WeightLayout : std::uint8_t {
  kCanonical,    ///< [C_out, k.., C_in]: ours, spconv ≥ 2.2, TRELLIS, TRELLIS.2, FlexGEMM
  kSpconv1,      ///< [k.., C_in, C_out]: spconv 1.x, mmcv, OpenPCDet's and CenterPoint's older checkpoints
  kSpconv20,     ///< [k.., C_out, C_in]: spconv 2.0 and 2.1
  kTorch,        ///< [C_out, C_in, k..]: torch.nn.Conv1d, 2d, 3d
  kMlx,          ///< [K, C_in, C_out], last axis fastest: the MLX port of LATO.2
  kMinkowski,    ///< [K, C_in, C_out], first axis fastest: MinkowskiEngine; K = 1 as [C_in, C_out]
  kTorchSparse,  ///< as kMinkowski for odd K, last axis fastest for even K: TorchSparse 2.1
};

std::string_view weight_layout_name(
    WeightLayout layout) noexcept;                        ///< "canonical", "spconv1", "spconv2.0", …
WeightLayout parse_weight_layout(std::string_view name);  ///< InvalidArgument listing the known names

/// Weights in the canonical layout [C_out, k0, …, C_in], any dtype.
///
///   stored   as `layout` says   any dtype
///   kernel   [k0, …]            needed where `stored` has one axis for all taps; else checked if given
///   returns  [C_out, k0, …, C_in], a packed copy, dtype kept
///   throws   InvalidArgument    rank or extents do not fit the layout and kernel
///   cost     one pass over the weights
Tensor import_weight(const Tensor& stored, WeightLayout layout, const Dims& kernel = {});

/// The inverse of import_weight.
///   canonical  [C_out, k0, …, C_in]; throws InvalidArgument below rank 3
Tensor export_weight(const Tensor& canonical, WeightLayout layout);

/// A whole checkpoint. Convolutions become canonical: tensors named `*.weight` of three axes or more or, from
/// MinkowskiEngine and TorchSparse, `*.kernel`, which are renamed `*.weight`. MinkowskiEngine's `*.bn.weight`
/// and the like lose their `.bn`, its biases [1, C] become [C]. All else is passed through.
///
///   kernels  name → [k0, …] of convolutions whose stored form has one axis K for all taps; a K that is a
///   cube
///            is k×k×k unless it is named here
///   throws   InvalidArgument   one error listing every tensor that does not fit, every name in `kernels`
///   that is
///                              no such convolution, and every two names that became one
std::map<std::string, Tensor> import_state_dict(const std::map<std::string, Tensor>& state,
                                                WeightLayout layout,
                                                const std::map<std::string, Dims>& kernels = {});

}  // namespace aerogel::nn
