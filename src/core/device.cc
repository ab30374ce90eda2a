#include "aerogel/device.h"

#include <atomic>

#include <fmt/core.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

constexpr std::string_view kBackendNames[] = {"reference", "cpu", "cuda", "vulkan"};

}  // namespace

std::string_view backend_name(Backend backend) noexcept { return kBackendNames[static_cast<int>(backend)]; }

Backend parse_backend(std::string_view name) {
  for (int i = 0; i < 4; ++i) {
    if (kBackendNames[i] == name) return static_cast<Backend>(i);
  }
  throw InvalidArgument(fmt::format("[device] expected one of reference, cpu, cuda, vulkan, got '{}'", name));
}

void MemoryMeter::add(std::int64_t bytes) noexcept {
  const std::int64_t now = std::atomic_ref(live_).fetch_add(bytes) + bytes;
  std::atomic_ref peak(peak_);
  std::int64_t seen = peak.load();
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
}

void MemoryMeter::remove(std::int64_t bytes) noexcept { std::atomic_ref(live_).fetch_sub(bytes); }

std::int64_t MemoryMeter::live_bytes() const noexcept { return std::atomic_ref(live_).load(); }

std::int64_t MemoryMeter::peak_bytes() const noexcept { return std::atomic_ref(peak_).load(); }

std::string_view version() noexcept { return AEROGEL_VERSION; }

}  // namespace aerogel
