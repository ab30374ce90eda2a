// Ops on rows: activation, sums, concatenation, batch norm.
#pragma once

#include <span>

#include "aerogel/conv.h"
#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// out = activation(in · scale + shift + residual); undefined tensors are left out.
///   in [N, C], scale [C], shift [C], residual [N, C]  f32; returns [N, C] f32; throws InvalidArgument on
///   shapes.
struct Affine {
  Tensor scale;     ///< [C]
  Tensor shift;     ///< [C]
  Tensor residual;  ///< [N, C]
  Activation activation = Activation::kNone;
};
Tensor affine(const Tensor& in, const Affine& by, const ExecOptions& exec = {});

/// max(in, 0), NaN kept.
SparseTensor relu(const SparseTensor& in, const ExecOptions& exec = {});

/// Sum of two tensors on one coordinate set. InvalidArgument if the sets or channels differ (see add_union).
SparseTensor add(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec = {});

/// Sum over the union of sites, a site absent from one side counting as zero; rows sorted.
/// InvalidArgument if channels, spatial shape or batch size differ.
SparseTensor add_union(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec = {});

/// Channels side by side on one coordinate set: [N, ΣC].
SparseTensor concat(std::span<const SparseTensor> parts, const ExecOptions& exec = {});

/// Batch norm parameters, each [C] f32.
struct BatchNorm {
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  double eps = 1e-5;
};

/// Inference: (x − running_mean) / √(running_var + eps) · weight + bias.
SparseTensor batch_norm(const SparseTensor& in, const BatchNorm& norm, const ExecOptions& exec = {});

/// Training forward: mean and biased variance over the active sites of this call, accumulated in double in a
/// fixed order. Running statistics are not touched. N = 0 gives an empty result.
SparseTensor batch_norm_train(const SparseTensor& in, const BatchNorm& norm, const ExecOptions& exec = {});

/// Inference batch norm as the scale and shift of an epilogue: scale = weight / √(var + eps), shift = bias −
/// mean · scale.
struct FoldedNorm {
  Tensor scale;  ///< [C]
  Tensor shift;  ///< [C]
};
FoldedNorm fold_batch_norm(const BatchNorm& norm);

}  // namespace aerogel
