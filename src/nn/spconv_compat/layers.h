// spconv's layers by class name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/spconv_compat/description.h"
#include "nn/spconv_compat/quirks.h"

namespace aerogel::nn::spconv {

/// A layer that takes one sparse tensor and gives one: SubMConv1d … 4d, SparseConv1d … 4d,
/// SparseConvTranspose1d … 4d, SparseInverseConv1d … 4d, SparseMaxPool and SparseAvgPool (ndim among the
/// arguments, or 1d … 4d), nn.BatchNorm1d, nn.ReLU, nn.Linear, nn.Identity, SparseSequential. Parameters
/// in `layer.params` are loaded strictly; a layer without any is left without (init_weights or
/// load_state_dict come next).
///   throws   InvalidArgument   unknown arguments, parameters that do not fit; Unsupported   another
///                              class, groups > 1
std::unique_ptr<Module> make_layer(const LayerDescription& layer, const Quirks& quirks = {});

/// AddTable or JoinTable over branches on one coordinate set.
SparseTensor apply_table(std::string_view cls, std::span<const SparseTensor> branches,
                         const Context& context);

/// SparseGlobalMaxPool or SparseGlobalAvgPool: [B, C], or [B] under the quirk.
Tensor global_pool(std::string_view cls, const SparseTensor& in, const Context& context,
                   const Quirks& quirks = {});

/// Names and shapes of a layer's parameters.
std::vector<Parameter> parameters_of(Module& module);

}  // namespace aerogel::nn::spconv
