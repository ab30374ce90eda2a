// Sparse convolutions and linear layers. Features and weights are f32, f16 or bf16, of one dtype, which the
// result has too; sums and epilogue are f32, rounded to nearest even once.
#pragma once

#include <memory>

#include "aerogel/conv.h"
#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// Per-axis numbers; an empty Dims takes the default (stride 1, padding 0, dilation 1, output_padding 0).
struct ConvOptions {
  Dims stride;
  Dims padding;
  Dims dilation;
  Dims output_padding;                  ///< transposed only
  SiteRule sites = SiteRule::kReached;  ///< not submanifold
  std::int64_t groups = 1;  ///< convolutions: output channels of a group read its input channels only
};

/// The kernel map for `spec` on `in`, built on first use and kept with the coordinate set.
///
/// For kInverse, `in` is the fine level that the matching regular layer read; the map's input rows are that
/// layer's outputs and its output rows are `in`.
///   throws   InvalidArgument   the spec does not fit the set
///            Unsupported       no kernel of exec.backend
///            OutOfMemory
///   cost     one sort per coordinate set, O(N · K) per map
///   thread-safe; concurrent callers for one map wait for one build
std::shared_ptr<const KernelMap> build_kernel_map(const Coordinates& in, const KernelSpec& spec,
                                                  const ExecOptions& exec = {});

/// Submanifold convolution: the output sites are the input sites.
///
///   out[o, :] = epilogue( Σ_k  in[i, :] · weight[:, k, :]ᵀ )     over pairs (i, o) in map[k]
///
///   in       features [N, C_in]             any row order
///   weight   [C_out, k.., C_in/groups]      odd kernel sizes; offsets row-major, last axis fastest
///   options  dilation and groups      stride must be 1 and padding left empty or centred
///   returns  features [N, C_out]            the coordinates of `in`
///   throws   InvalidArgument          channels, dtypes, groups or ndim disagree, an even kernel, a bad
///                                     epilogue
///   cost     2 · pairs · C_in · C_out / groups FLOP, plus the map on first use
///   source   Graham & van der Maaten 2017, arXiv:1706.01307
SparseTensor subm_conv(const SparseTensor& in, const ConvWeight& weight, const ConvOptions& options = {},
                       const Epilogue& epilogue = {}, const ExecOptions& exec = {});

/// Regular sparse convolution: the output sites are those that some tap reaches, sorted (but a 1×…×1 kernel
/// of stride 1 and padding 0 is a matrix product on the rows as they are). Output extent per axis (in +
/// 2·padding − dilation·(k−1) − 1) / stride + 1. Arguments as subm_conv. With SiteRule::kMinkowski the sites
/// are floor(in / stride), at stride 1 those of `in` with their coordinate set; a site that no tap reaches
/// gets epilogue(0).
///
///   throws   InvalidArgument   as subm_conv, or an output extent below 1
///   cost     2 · pairs · C_in · C_out / groups FLOP, plus map and sites on first use
///   source   Graham et al. 2018, arXiv:1711.10275 (SparseConvNet's strided convolution)
SparseTensor sparse_conv(const SparseTensor& in, const ConvWeight& weight, const ConvOptions& options = {},
                         const Epilogue& epilogue = {}, const ExecOptions& exec = {});

/// Transposed convolution: out = in·stride − padding + tap·dilation, sorted.
/// Output extent (in−1)·stride − 2·padding + dilation·(k−1) + 1 + output_padding. Arguments as subm_conv.
/// With SiteRule::kMinkowski this is MinkowskiEngine's generative transposed convolution.
///
///   throws   InvalidArgument   as subm_conv, or an output extent below 1
///   cost     2 · pairs · C_in · C_out / groups FLOP, plus map and sites on first use
///   source   Dumoulin & Visin 2016, arXiv:1603.07285, on active sites
SparseTensor transposed_conv(const SparseTensor& in, const ConvWeight& weight,
                             const ConvOptions& options = {}, const Epilogue& epilogue = {},
                             const ExecOptions& exec = {});

/// Inverse convolution: the pairs of an earlier regular layer with input and output swapped, same taps.
///
///   in       features on the sites that sparse_conv(onto, kernel, options) or a pool of that geometry gave
///   onto     the sites which that layer read: the output sites
///   returns  features [N_onto, C_out] the coordinates of `onto`
///   throws   InvalidArgument   `in` does not sit on the sites of that map; else as subm_conv
///   cost     2 · pairs · C_in · C_out / groups FLOP, plus the map and its swap on first use
///   source   SparseInverseConv3d of spconv (Yan et al. 2018)
SparseTensor inverse_conv(const SparseTensor& in, const Coordinates& onto, const ConvWeight& weight,
                          const ConvOptions& options = {}, const Epilogue& epilogue = {},
                          const ExecOptions& exec = {});

/// Linear layer: out = epilogue(in · weightᵀ).
///
///   in       [N, C_in]
///   weight   [C_out, C_in]    (or K = 1 of any ndim)
///   returns  [N, C_out]
///   throws   InvalidArgument  channels or dtypes disagree, a kernel past one offset, a bad epilogue shape
///   cost     2 · N · C_in · C_out FLOP
Tensor linear(const Tensor& in, const ConvWeight& weight, const Epilogue& epilogue = {},
              const ExecOptions& exec = {});

}  // namespace aerogel
