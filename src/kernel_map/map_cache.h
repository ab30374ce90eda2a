// The kernel maps of one coordinate set, found by geometry. They live and die with the set.
#pragma once

#include <functional>
#include <memory>

#include "aerogel/kernel_map.h"

namespace aerogel {

struct FoundMap {
  std::shared_ptr<const KernelMap> map;
  bool reused = false;
};

/// The map for `spec` on `in`; `build` runs at most once per geometry while other callers wait for it. A
/// build that throws leaves nothing behind and its error reaches every waiter.
FoundMap find_or_build_map(const Coordinates& in, const KernelSpec& spec,
                           const std::function<std::shared_ptr<const KernelMap>()>& build);

}  // namespace aerogel
