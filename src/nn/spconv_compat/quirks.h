// What spconv does differently from us, each switchable. All on reproduces spconv 2.3; all off is our own
// semantics.
#pragma once

namespace aerogel::nn::spconv {

struct Quirks {
  /// A K = 1 layer multiplies by its [C_out, 1.., C_in] bytes taken as [C_in, C_out]. Off: by the
  /// canonical weight.
  bool pointwise_reinterpreted = true;
  /// A max pool starts from 0, so an all-negative window gives 0. Off: from −inf.
  bool max_pool_from_zero = true;
  /// SparseGlobalAvgPool gives channel 0 only, [B]. Off: [B, C].
  bool global_avg_channel_zero = true;
  /// Submanifold layers accept any stride and padding and ignore both. Off: they must be 1 and centred.
  bool subm_ignores_stride_and_padding = true;
  /// Layers of one indice key must agree in kind, kernel size, dilation and sites. Off: a key is a hint.
  bool indice_key_must_agree = true;
  /// The output extent of a transposed layer leaves dilation out, dropping sites past it. Off: dilation
  /// counts.
  bool transposed_extent_without_dilation = true;

  static constexpr Quirks none() { return {false, false, false, false, false, false}; }
};

}  // namespace aerogel::nn::spconv
