// Convolution, batch norm and ReLU as one op at inference, and a residual block of two such.
#pragma once

#include <string>
#include <vector>

#include "nn/conv_layer.h"
#include "nn/norm_layer.h"

namespace aerogel::nn {

/// relu(norm(conv(x))); parameters "0.*" (convolution) and "1.*" (norm), as in a torch Sequential.
class ConvBlock : public Module {
 public:
  ConvBlock(const ConvLayerOptions& conv, double norm_eps) : conv_(conv), norm_(conv.c_out, norm_eps) {}
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  ConvLayer conv_;
  NormLayer norm_;
};

/// relu(norm2(conv2(relu(norm1(conv1(x))))) + x), both convolutions submanifold with bias; parameters
/// "conv1.*", "bn1.*", "conv2.*", "bn2.*". At inference each half is one op, the sum included.
class ResidualBlock : public Module {
 public:
  /// `conv` gives kernel, dilation and key; its c_in must equal its c_out.
  ResidualBlock(const ConvLayerOptions& conv, double norm_eps);
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  SparseTensor forward_unfused(const SparseTensor& in, Context& context) const;

  ConvLayer conv1_;
  NormLayer norm1_;
  ConvLayer conv2_;
  NormLayer norm2_;
};

}  // namespace aerogel::nn
