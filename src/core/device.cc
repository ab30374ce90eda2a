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

void MemoryMeter::add(std::int64_t bytes, MemoryUse use) {
  std::atomic_ref total(total_);
  std::int64_t before = total.load();
  do {
    if (bytes > limit_ - before) throw OutOfMemory(bytes, limit_ - before, "cpu");
  } while (!total.compare_exchange_weak(before, before + bytes));
  Count& count = counts_[static_cast<int>(use)];
  const std::int64_t now = std::atomic_ref(count.live).fetch_add(bytes) + bytes;
  std::atomic_ref peak(count.peak);
  std::int64_t seen = peak.load();
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
}

void MemoryMeter::remove(std::int64_t bytes, MemoryUse use) noexcept {
  std::atomic_ref(counts_[static_cast<int>(use)].live).fetch_sub(bytes);
  std::atomic_ref(total_).fetch_sub(bytes);
}

std::int64_t MemoryMeter::live_bytes(MemoryUse use) const noexcept {
  return std::atomic_ref(counts_[static_cast<int>(use)].live).load();
}

std::int64_t MemoryMeter::peak_bytes(MemoryUse use) const noexcept {
  return std::atomic_ref(counts_[static_cast<int>(use)].peak).load();
}

std::string_view version() noexcept { return AEROGEL_VERSION; }

}  // namespace aerogel
