#include "nn/levels.h"

#include <cstring>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/scope.h"

namespace aerogel::nn {
namespace {

bool same_sites(const Coordinates& a, const Coordinates& b) {
  if (a == b) return true;
  if (a.size() != b.size() || a.batch_size() != b.batch_size() || !(a.spatial_shape() == b.spatial_shape())) {
    return false;
  }
  return a.size() == 0 || std::memcmp(a.indices().raw(), b.indices().raw(),
                                      static_cast<std::size_t>(a.indices().nbytes())) == 0;
}

std::string describe(const Coordinates& sites, const KernelSpec& spec) {
  return fmt::format("{} with kernel {} and dilation {} on {} sites of {}", conv_kind_name(spec.kind),
                     spec.kernel.joined('x'), spec.dilation.joined('x'), sites.size(),
                     sites.spatial_shape().str());
}

}  // namespace

void remember_level(Context& context, const std::string& key, const Coordinates& fine, const KernelSpec& spec,
                    KeyRule rule) {
  if (key.empty()) return;
  const auto it = context.levels.find(key);
  if (rule == KeyRule::kMustAgree && it != context.levels.end()) {
    const Context::Level& earlier = it->second;
    if (!(earlier.spec == spec) || !same_sites(earlier.fine, fine)) {
      throw InvalidArgument(
          fmt::format("{} indice key '{}' is taken by an earlier layer: that one is {}, this one is {}. "
                      "Layers on one key must agree "
                      "in kind, kernel size, stride, dilation and sites; give this layer another key or none "
                      "(maps are shared "
                      "without keys)",
                      where(context), key, describe(earlier.fine, earlier.spec), describe(fine, spec)));
    }
  }
  context.levels[key] = {fine, spec};
}

const Context::Level& level_to_return_to(const Context& context, const std::string& key, const Dims& kernel) {
  const auto it = context.levels.find(key);
  if (it == context.levels.end()) {
    std::string known;
    for (const auto& [name, level] : context.levels) known += (known.empty() ? "" : ", ") + name;
    throw InvalidArgument(fmt::format("{} no earlier layer of this pass has the indice key '{}' (known: {})",
                                      where(context), key, known.empty() ? "none" : known));
  }
  const Context::Level& level = it->second;
  if (level.spec.kind != ConvKind::kRegular) {
    throw InvalidArgument(
        fmt::format("{} an inverse layer returns from a regular one, but indice key '{}' is {}",
                    where(context), key, describe(level.fine, level.spec)));
  }
  if (!(level.spec.kernel == kernel)) {
    throw InvalidArgument(fmt::format("{} kernel {} differs from that of indice key '{}': {}", where(context),
                                      kernel.joined('x'), key, describe(level.fine, level.spec)));
  }
  return level;
}

}  // namespace aerogel::nn
