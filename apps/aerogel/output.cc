#include "output.h"

#include <system_error>
#include <unistd.h>

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

void prepare_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    throw InvalidArgument(fmt::format("cannot make the folder {}: {}", folder.string(),
                                      error ? error.message() : "a file of that name is there"));
  }
  require_writable(folder, folder);
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
