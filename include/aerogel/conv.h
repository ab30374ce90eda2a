// A convolution as numbers (ConvProblem), its weights (ConvWeight) and what is fused behind it (Epilogue).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "aerogel/kernel_map.h"
#include "aerogel/tensor.h"

namespace aerogel {

/// Everything a kernel choice may depend on. No pointers.
struct ConvProblem {
  KernelSpec spec;
  std::int64_t n_in = 0;
  std::int64_t n_out = 0;
  std::int64_t pairs = 0;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  std::int64_t groups = 1;  ///< output channels of group g read input channels of group g only
  DType dtype = DType::kF32;
  bool bias = false;
  bool affine = false;
  bool residual = false;
  Activation activation = Activation::kNone;
  bool requantised = false;  ///< i8 only: the result is i8 too, else f32

  double flop() const noexcept;  ///< 2 · pairs · C_in · C_out / groups
  /// "sparse_conv:kind=subm:kernel=3x3x3:…:n=66035:pairs=537000:cin=64:cout=64:dtype=f32:epilogue=bias+relu",
  /// with ":groups=…" behind cout where there is more than one
  std::string str() const;
};

/// What the integers of an i8 layer stand for: x = in_scale · in, w[n, …] = weight_scale[n] · weight[n, …].
struct Quantization {
  float in_scale = 0;   ///< > 0; 0: the layer is not quantised
  Tensor weight_scale;  ///< [C_out] f32
  float out_scale = 0;  ///< > 0: the result is i8, round(out / out_scale), half to even, saturated; 0: f32

  bool given() const noexcept { return in_scale != 0 || out_scale != 0 || weight_scale.defined(); }
};

/// Fused behind a convolution or linear layer, in this order:
///
///   out = activation( (conv + bias) · scale + shift + residual )
///
/// Undefined tensors are left out. With `quantization`, conv = Σ in · weight · in_scale · weight_scale[n],
/// the sum in integers and exact.
struct Epilogue {
  Tensor bias;      ///< [C_out] f32 or the features' dtype, as scale and shift
  Tensor scale;     ///< [C_out] folded batch norm
  Tensor shift;     ///< [C_out]
  Tensor residual;  ///< [N_out, C_out] of the features' dtype; f32 beside i8
  Activation activation = Activation::kNone;
  float negative_slope = 0.01f;  ///< of kLeakyRelu
  Quantization quantization;     ///< for i8 features and weights
};

/// Convolution weights in the canonical layout, with the packed forms that kernels made of them.
/// Copies share one object; packing happens once per kernel layout and is safe from many threads.
class ConvWeight {
 public:
  ConvWeight() = default;
  /// weight [C_out, k0, …, C_in / groups] f32, f16, bf16 or i8 (KRSC); a 2-D tensor [C_out, C_in] is a
  /// pointwise weight of any ndim.
  ConvWeight(const Tensor& weight);  // NOLINT(google-explicit-constructor): a weight is a tensor to its users

  bool defined() const noexcept { return impl_ != nullptr; }
  const Tensor& canonical() const noexcept;
  std::int64_t c_out() const noexcept;
  std::int64_t c_in() const noexcept;  ///< of one group
  Dims kernel() const;                 ///< [k0, …]; empty for a 2-D weight
  std::int64_t volume() const;         ///< K

  /// The packed form named `layout`, made by `pack` from the canonical tensor on first use and kept.
  Tensor packed(const std::string& layout, const std::function<Tensor(const Tensor&)>& pack) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace aerogel
