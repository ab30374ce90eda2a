// A parameter that is simply a tensor member of its module.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "aerogel/nn.h"

namespace aerogel::nn {

/// `changed` runs after each set. `slot` must live as long as the module that owns it.
inline Parameter tensor_parameter(std::string name, const Dims& shape, Tensor& slot,
                                  std::function<void()> changed = nullptr) {
  return {std::move(name), shape,
          [&slot, changed = std::move(changed)](const Tensor& value) {
            slot = value.contiguous();
            if (changed) changed();
          },
          [&slot] { return slot; }};
}

}  // namespace aerogel::nn
