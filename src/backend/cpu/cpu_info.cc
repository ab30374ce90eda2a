// The processor's name as the system tells it, and the instruction set that the kernels run on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/cpu_info.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <fstream>
#include <string>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aerogel/device.h"

#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel {
namespace cpu {
namespace {

HWY_EXPORT(target_name);
std::string instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace
}  // namespace cpu

CpuInfo cpu_info() {
  static const std::string model = cpu::model_name();
  return {model, cpu::instruction_set(), hardware_threads()};
}

}  // namespace aerogel
#endif  // HWY_ONCE
