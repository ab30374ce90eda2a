// One maker per family of classes; layers.cc picks by name.
#pragma once

#include <memory>

#include "aerogel/kernel_map.h"

#include "nn/pool_layer.h"
#include "nn/spconv_compat/description.h"
#include "nn/spconv_compat/quirks.h"

namespace aerogel::nn::spconv {

std::unique_ptr<Module> make_conv(const LayerDescription& layer, ConvKind kind, int ndim,
                                  const Quirks& quirks);

/// ndim 0: it stands among the arguments.
std::unique_ptr<Module> make_pool(const LayerDescription& layer, PoolOp op, int ndim, const Quirks& quirks);

/// nn.BatchNorm1d, nn.ReLU, nn.Linear, nn.Identity; null for another class.
std::unique_ptr<Module> make_torch_layer(const LayerDescription& layer);

}  // namespace aerogel::nn::spconv
