// Ops on rows: activation, sums, concatenation, batch norm. Features are f32, f16 or bf16 and keep their
// dtype; arithmetic is f32, rounded once.
#pragma once

#include <span>

#include "aerogel/conv.h"
#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// out = activation(in · scale + shift + residual); undefined tensors are left out.
///
///   in       [N, C]
///   returns  [N, C]
///   throws   InvalidArgument   a shape or dtype that does not fit; scale and shift are f32 or of the
///                              features' dtype
///   cost     one pass over N · C
struct Affine {
  Tensor scale;     ///< [C]
  Tensor shift;     ///< [C]
  Tensor residual;  ///< [N, C]
  Activation activation = Activation::kNone;
  float negative_slope = 0.01f;  ///< of kLeakyRelu
};
Tensor affine(const Tensor& in, const Affine& by, const ExecOptions& exec = {});

/// One activation of every feature [N, C]; Activation says what each computes. The forms on a SparseTensor
/// keep its sites. Relative error against the exact function: 10 · 2⁻²⁴, but gelu_tanh of x < 0, where the
/// tanh's argument y loses |y| · 2⁻²¹ more.
///   throws   InvalidArgument   features that are not f32, f16 or bf16
///   cost     one pass over N · C; some 20 (sigmoid) to 40 (GELU by erf) operations an element
Tensor relu(const Tensor& in, const ExecOptions& exec = {});
Tensor leaky_relu(const Tensor& in, float negative_slope = 0.01f, const ExecOptions& exec = {});
Tensor sigmoid(const Tensor& in, const ExecOptions& exec = {});
Tensor silu(const Tensor& in, const ExecOptions& exec = {});
Tensor gelu_erf(const Tensor& in, const ExecOptions& exec = {});
Tensor gelu_tanh(const Tensor& in, const ExecOptions& exec = {});
SparseTensor relu(const SparseTensor& in, const ExecOptions& exec = {});
SparseTensor leaky_relu(const SparseTensor& in, float negative_slope = 0.01f, const ExecOptions& exec = {});
SparseTensor sigmoid(const SparseTensor& in, const ExecOptions& exec = {});
SparseTensor silu(const SparseTensor& in, const ExecOptions& exec = {});
SparseTensor gelu_erf(const SparseTensor& in, const ExecOptions& exec = {});
SparseTensor gelu_tanh(const SparseTensor& in, const ExecOptions& exec = {});

/// Sum of two tensors on one coordinate set.
///   throws   InvalidArgument   the sets or channels differ (see add_union)
///   cost     one pass over N · C
SparseTensor add(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec = {});

/// Sum over the union of sites, a site absent from one side counting as zero; rows sorted.
///   throws   InvalidArgument   channels, spatial shape or batch size differ
///   cost     one merge of both sorted orders, one pass over the rows
///   source   the sum of sparse tensors in MinkowskiEngine (Choy et al. 2019, arXiv:1904.08755)
SparseTensor add_union(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec = {});

/// Channels side by side on one coordinate set: [N, ΣC].
///   throws   InvalidArgument   no parts, or parts on different sets
///   cost     one copy of every element
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
///   throws   InvalidArgument   parameters that are not [C] f32, eps below 0
///   cost     one pass over N · C
///   source   Ioffe & Szegedy 2015, arXiv:1502.03167
SparseTensor batch_norm(const SparseTensor& in, const BatchNorm& norm, const ExecOptions& exec = {});

/// Training forward: mean and biased variance over the active sites of this call, accumulated in double in a
/// fixed order. Running statistics are not touched. N = 0 gives an empty result.
///   throws   InvalidArgument   parameters that are not [C] f32
///   cost     three passes over N · C
SparseTensor batch_norm_train(const SparseTensor& in, const BatchNorm& norm, const ExecOptions& exec = {});

/// Inference batch norm as the scale and shift of an epilogue: scale = weight / √(var + eps), shift = bias −
/// mean · scale. O(C).
///   throws   InvalidArgument   parameters that are not [C] f32
struct FoldedNorm {
  Tensor scale;  ///< [C]
  Tensor shift;  ///< [C]
};
FoldedNorm fold_batch_norm(const BatchNorm& norm);

}  // namespace aerogel
