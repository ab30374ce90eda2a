// Indice keys: which sites and geometry a layer of a given key read.
#pragma once

#include <string>

#include "aerogel/nn.h"

namespace aerogel::nn {

/// Whether layers that share an indice key must agree, as spconv's must. Ours need not: maps are found by
/// sites and geometry, and the key only tells an inverse layer where to return.
enum class KeyRule : std::uint8_t { kHint, kMustAgree };

/// Remembers `fine` and `spec` under `key`; an empty key is not remembered.
/// throws InvalidArgument under kMustAgree if an earlier layer of that key had another kernel, dilation or
/// sites.
void remember_level(Context& context, const std::string& key, const Coordinates& fine, const KernelSpec& spec,
                    KeyRule rule);

/// The level an inverse layer of `kernel` returns to.
/// throws InvalidArgument if no layer recorded the key, its layer was not a regular one, or the kernels
/// differ.
const Context::Level& level_to_return_to(const Context& context, const std::string& key, const Dims& kernel);

}  // namespace aerogel::nn
