#include "aerogel/error.h"

#include <fmt/core.h>

namespace aerogel {

FormatError::FormatError(const std::string& path, std::int64_t offset, const std::string& what_is_wrong)
    : std::runtime_error(offset >= 0 ? fmt::format("{}: byte {}: {}", path, offset, what_is_wrong)
                                     : fmt::format("{}: {}", path, what_is_wrong)),
      path_(path),
      offset_(offset) {}

OutOfMemory::OutOfMemory(std::int64_t asked_bytes, std::int64_t free_bytes, const std::string& device)
    : std::runtime_error(asked_bytes < 0 ? fmt::format("[{}] out of memory", device)
                         : free_bytes >= 0
                             ? fmt::format("[{}] out of memory: asked for {} bytes, {} free", device,
                                           asked_bytes, free_bytes)
                             : fmt::format("[{}] out of memory: asked for {} bytes", device, asked_bytes)),
      asked_(asked_bytes),
      free_(free_bytes) {}

}  // namespace aerogel
