// Where data that is not committed lies: the folder named by AEROGEL_SHARED, or `shared` beside the
// repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace aerogel {

/// The file or folder `relative` ("data/points/…") if it is there.
/// A test without its data calls GTEST_SKIP() and says which file it missed.
inline std::optional<std::filesystem::path> shared_data(const std::string& relative) {
  const char* given = std::getenv("AEROGEL_SHARED");
  const std::filesystem::path root = given != nullptr ? given : AEROGEL_SOURCE_DIR "/../shared";
  const std::filesystem::path path = root / relative;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

}  // namespace aerogel
