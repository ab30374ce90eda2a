// Drops the sites past a smaller extent.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aerogel/nn.h"

namespace aerogel::nn::spconv {

/// Runs `inner`, then takes `excess` cells off the far end of each axis with the sites in them. Sites that
/// stay keep their features, since no output site depends on another.
class CropLayer : public Module {
 public:
  CropLayer(std::unique_ptr<Module> inner, const Dims& excess) : inner_(std::move(inner)), excess_(excess) {}
  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override {
    inner_->parameters(prefix, out);
  }

 private:
  std::unique_ptr<Module> inner_;
  Dims excess_;
};

}  // namespace aerogel::nn::spconv
