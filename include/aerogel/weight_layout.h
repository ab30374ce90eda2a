// Convolution weights as other libraries store them, to and from ours. A layout is declared, never guessed:
// shapes are ambiguous.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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
    WeightLayout layout) noexcept;  ///< "canonical", "spconv1", "spconv2.0", …
/// The inverse of weight_layout_name; "spconv2.2" is canonical. InvalidArgument listing the known names.
WeightLayout parse_weight_layout(std::string_view name);

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

/// How a whole checkpoint is rewritten.
struct StateDictConversion {
  WeightLayout from = WeightLayout::kCanonical;
  WeightLayout to = WeightLayout::kCanonical;
  /// Name in the checkpoint → [k0, …] of convolutions whose stored form has one axis K for all taps. A K that
  /// is a cube is k×k×k unless it is named here; another K has to be. Of other layouts the size is checked.
  std::map<std::string, Dims> kernels;
  /// Only tensors whose names begin with one of these; empty: all. A detector's dense layers are torch's,
  /// whatever its sparse ones are.
  std::vector<std::string> only;
};

/// A tensor that a conversion touched.
struct ConvertedTensor {
  std::string name;     ///< in the checkpoint
  Dims shape;           ///< there
  std::string to_name;  ///< in the result
  Dims to_shape;        ///< there
  Dims kernel;          ///< [k0, …] of a convolution; empty: not one, but renamed or reshaped
};

struct ConvertedStateDict {
  std::map<std::string, Tensor> tensors;
  std::vector<ConvertedTensor> converted;  ///< in the order of their names; all others are as they were
};

/// A whole checkpoint in another layout. Convolutions are the tensors named `*.weight` of three axes or more
/// or, of MinkowskiEngine and TorchSparse, `*.kernel`; their names change with the layout. MinkowskiEngine's
/// batch norms (known by their running_mean) are `*.bn.weight` and so on there, and a convolution's bias is
/// [1, C]; elsewhere the `.bn` is left out and the bias [C]. All else is passed through, not copied.
///
///   throws   InvalidArgument   one error listing every tensor that does not fit the layout or whose C_out is
///                              not its bias's, every name in `kernels` that is no such convolution, and
///                              every two names that became one
///   cost     one pass over the convolutions, two between layouts that are both not canonical
ConvertedStateDict convert_state_dict(const std::map<std::string, Tensor>& state,
                                      const StateDictConversion& conversion);

/// convert_state_dict to the canonical layout, the tensors only.
std::map<std::string, Tensor> import_state_dict(const std::map<std::string, Tensor>& state,
                                                WeightLayout layout,
                                                const std::map<std::string, Dims>& kernels = {});

}  // namespace aerogel::nn
