#include "kernel_map/map_cache.h"

#include <future>
#include <map>
#include <mutex>
#include <string>

namespace aerogel {
namespace {

struct MapCache {
  std::mutex mutex;
  std::map<std::string, std::shared_future<std::shared_ptr<const KernelMap>>> maps;  // by KernelSpec::str()
  MapStats stats;
};

/// The cache in the set's slot. One global lock guards creation only, never a build.
MapCache& cache_of(const Coordinates& coordinates) {
  static std::mutex creation;
  const std::lock_guard lock(creation);
  std::shared_ptr<void>& slot = coordinates.map_slot();
  if (!slot) slot = std::make_shared<MapCache>();
  return *static_cast<MapCache*>(slot.get());
}

}  // namespace

FoundMap find_or_build_map(const Coordinates& in, const KernelSpec& spec,
                           const std::function<std::shared_ptr<const KernelMap>()>& build) {
  MapCache& cache = cache_of(in);
  const std::string key = spec.str();
  std::promise<std::shared_ptr<const KernelMap>> promise;
  std::shared_future<std::shared_ptr<const KernelMap>> found;
  {
    const std::lock_guard lock(cache.mutex);
    const auto it = cache.maps.find(key);
    if (it != cache.maps.end()) {
      found = it->second;
      ++cache.stats.reuses;
    } else {
      cache.maps.emplace(key, promise.get_future().share());
    }
  }
  if (found.valid()) return {found.get(), true};
  try {
    std::shared_ptr<const KernelMap> map = build();
    promise.set_value(map);
    const std::lock_guard lock(cache.mutex);
    ++cache.stats.builds;
    return {map, false};
  } catch (...) {
    {
      const std::lock_guard lock(cache.mutex);
      cache.maps.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

MapStats Coordinates::map_stats() const {
  if (!defined()) return {};
  MapCache& cache = cache_of(*this);
  const std::lock_guard lock(cache.mutex);
  return cache.stats;
}

}  // namespace aerogel
