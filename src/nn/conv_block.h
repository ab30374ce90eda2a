// Convolution, batch norm and activation as one op at inference, and a residual block of two such.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/conv_layer.h"
#include "nn/norm_layer.h"

namespace aerogel::nn {

/// What follows a convolution.
enum class Tail : std::uint8_t {
  kNone,
  kNormRelu,
  kLeakyNorm,  ///< LeakyReLU of slope 0.01, then the norm
};

/// Dotted names of the parts of a block, behind the prefix that it is given.
struct BlockNames {
  std::string conv = "0";  ///< as in a torch Sequential
  std::string norm = "1";
};

/// tail(conv(x)).
class ConvBlock : public Module {
 public:
  ConvBlock(const ConvLayerOptions& conv, double norm_eps, Tail tail = Tail::kNormRelu,
            BlockNames names = {});
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  ConvLayer conv_;
  NormLayer norm_;
  Tail tail_;
  BlockNames names_;
};

/// As OpenPCDet calls the parts; `projection` is the 1×1×1 convolution on the way past, where channels
/// change.
struct ResidualNames {
  BlockNames first = {"conv1", "bn1"};
  BlockNames second = {"conv2", "bn2"};
  BlockNames projection = {"proj.0", "proj.1"};
};

/// relu(norm2(conv2(relu(norm1(conv1(x))))) + p(x)), both convolutions submanifold; p is the identity, or
/// norm(conv1×1×1(x)) where channels change. At inference each convolution is one op, the sum included.
class ResidualBlock : public Module {
 public:
  /// `conv` gives channels, kernel, dilation, bias, key and how 1×1×1 buffers are read.
  ResidualBlock(const ConvLayerOptions& conv, double norm_eps, const ResidualNames& names = {});
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  struct Part {
    ConvLayer conv;
    NormLayer norm;
    BlockNames names;
  };
  static Part make_part(const ConvLayerOptions& options, double norm_eps, const BlockNames& names);
  /// activation(norm(conv(in)) + residual), unfused while training.
  static SparseTensor run(const Part& part, const SparseTensor& in, Context& context, Activation activation,
                          const Tensor& residual = {});

  Part first_;
  Part second_;
  std::optional<Part> projection_;
};

}  // namespace aerogel::nn
