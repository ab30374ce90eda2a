// Blocks of 3-D generators' decoders: sites are made as the network goes, so how many there are depends on
// the data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/conv_layer.h"
#include "nn/pointwise_layers.h"

namespace aerogel::nn {

/// Layer norm over channels, weight and bias [C] where it has them.
class LayerNormLayer : public Module {
 public:
  LayerNormLayer(std::int64_t channels, double eps, bool affine);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  std::int64_t channels_;
  double eps_;
  bool affine_;
  Tensor weight_;  // [C]
  Tensor bias_;    // [C]
};

/// Group norm per batch item, weight and bias [C].
class GroupNormLayer : public Module {
 public:
  GroupNormLayer(std::int64_t channels, std::int64_t groups, double eps);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  std::int64_t channels_;
  std::int64_t groups_;
  double eps_;
  Tensor weight_;  // [C]
  Tensor bias_;    // [C]
};

/// x + mlp(norm(conv(x))), mlp = linear C → 4C, SiLU, linear 4C → C, run in chunks of rows so that the wide
/// middle never stands for all rows at once. Peak: twice the output beside the input. TRELLIS.2's
/// SparseConvNeXtBlock3d: "conv", "norm", "mlp.0", "mlp.2".
class ConvNextBlock : public Module {
 public:
  explicit ConvNextBlock(std::int64_t channels);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  ConvLayer conv_;
  LayerNormLayer norm_;
  LinearLayer widen_;
  LinearLayer narrow_;
};

/// Up one level: conv1 makes eight children's channels on each site, "to_subdiv" says which children there
/// are, conv2 works on them; past it go the input's channels, an eighth to each child, repeated. TRELLIS.2's
/// SparseResBlockC2S3d: "norm1", "conv1", "to_subdiv", "conv2". Peak, beside the input: twice the output, or
/// conv1's output [N, 8 · C_out] and one tensor more.
///   forward throws   InvalidArgument   more children than Context::max_sites; a dry run without decisions
class ChannelToSpaceUpBlock : public Module {
 public:
  ChannelToSpaceUpBlock(std::int64_t c_in, std::int64_t c_out);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  LayerNormLayer norm1_;
  ConvLayer conv1_;
  LinearLayer to_subdiv_;
  LayerNormLayer norm2_;
  ConvLayer conv2_;
  ConvWeight repeat_;  // [C_out, C_in / 8] of ones: channel j reads j / (8 · C_out / C_in)
};

/// Up one level and pruned: every site gives eight children, two convolutions with group norm and SiLU, the
/// sum with the projected input, then the children whose "occupancy" is not positive go. TRELLIS's
/// SparseSubdivideBlock3d as LATO.2's decoder has it: "upsample.act_layers.0", "upsample.out_layers.0", ".1",
/// ".3", "upsample.skip_connection". Peak, beside the input: two tensors of the 8 · N children.
///   forward throws   InvalidArgument   8 · N above Context::max_sites; a dry run without decisions
class SubdivideUpBlock : public Module {
 public:
  SubdivideUpBlock(std::int64_t c_in, std::int64_t c_out);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  GroupNormLayer norm_in_;
  ConvLayer conv1_;
  GroupNormLayer norm_middle_;
  ConvLayer conv2_;
  std::optional<ConvLayer> skip_;
  LinearLayer occupancy_;
};

}  // namespace aerogel::nn
