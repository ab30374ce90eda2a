// The backends that this build does not have.
#include "backend/kernel.h"

namespace aerogel::absent {

const KernelTables& kernels() {
  static constexpr KernelTables kNone{};
  return kNone;
}

std::string_view reason(Backend backend) noexcept {
  switch (backend) {
    case Backend::kCuda:
      return "not built: this version has no CUDA backend yet";
    case Backend::kVulkan:
      return "not built: this version has no Vulkan backend yet";
    default:
      return "";
  }
}

}  // namespace aerogel::absent
