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

  double flop() const noexcept;  ///< 2 · pairs · C_in · C_out / groups
  /// "sparse_conv:kind=subm:kernel=3x3x3:…:n=66035:pairs=537000:cin=64:cout=64:dtype=f32:epilogue=bias+relu",
  /// with ":groups=…" behind cout where there is more than one
  std::string str() const;
};

/// Fused behind a convolution or linear layer, in this order:
///
///   out = activation( (conv + bias) · scale + shift + residual )
///
/// Undefined tensors are left out.
struct Epilogue {
  Tensor bias;      ///< [C_out] f32 or the features' dtype, as scale and shift
  Tensor scale;     ///< [C_out] folded batch norm
  Tensor shift;     ///< [C_out]
  Tensor residual;  ///< [N_out, C_out] of the features' dtype
  Activation activation = Activation::kNone;
};

/// Convolution weights in the canonical layout, with the packed forms that kernels made of them.
/// Copies share one object; packing happens once per kernel layout and is safe from many threads.
class ConvWeight {
 public:
  ConvWeight() = default;
  /// weight [C_out, k0, …, C_in / groups] f32, f16 or bf16 (KRSC); a 2-D tensor [C_out, C_in] is a pointwise
  /// weight of any ndim.
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
