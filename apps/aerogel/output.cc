#include "output.h"

#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "aerogel/error.h"

namespace aerogel::cli {

namespace fs = std::filesystem;

namespace {

void require_writable(const fs::path& folder, const fs::path& named) {
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InvalidArgument(
        fmt::format("cannot write {}: {}", named.string(), std::generic_category().message(errno)));
  }
}

}  // namespace

OutputFolder::OutputFolder(fs::path folder) : path_(std::move(folder)) {
  if (path_.empty()) throw InvalidArgument("the output folder has no name");
  fs::path there = fs::absolute(path_).lexically_normal();
  while (!fs::exists(there) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there)) {
    throw InvalidArgument(
        fmt::format("cannot make the folder {}: {} is a file", path_.string(), there.string()));
  }
  require_writable(there, path_);
}

OutputFolder::~OutputFolder() {
  std::error_code not_empty;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, not_empty);
}

void OutputFolder::make() {
  fs::path built;
  for (const fs::path& part : fs::absolute(path_).lexically_normal()) {
    built /= part;
    std::error_code error;
    if (part.empty() || fs::is_directory(built)) continue;
    if (fs::create_directory(built, error)) made_.push_back(built);
    if (error) {
      throw InvalidArgument(fmt::format("cannot make the folder {}: {}", path_.string(), error.message()));
    }
  }
}

void prepare_file(const fs::path& file) {
  if (file.empty()) throw InvalidArgument("the output file has no name");
  if (fs::is_directory(file))
    throw InvalidArgument(fmt::format("cannot write {}: it is a folder", file.string()));
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    throw InvalidArgument(
        fmt::format("cannot write {}: there is no folder {}", file.string(), folder.string()));
  }
  require_writable(folder, file);
}

void require_input(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw InvalidArgument(fmt::format("{}: no such file or folder", path.string()));
}

}  // namespace aerogel::cli
