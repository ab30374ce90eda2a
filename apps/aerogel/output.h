// Where results go: folders and files are checked before any work is done.
#pragma once

#include <filesystem>
#include <vector>

namespace aerogel::cli {

/// A folder for results. Those that it had to make, and that nothing was written to, go away with it.
class OutputFolder {
 public:
  /// Checks that `folder` is there and writable, or that it and its parents can be made; makes nothing.
  /// InvalidArgument naming it otherwise.
  explicit OutputFolder(std::filesystem::path folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Makes the folder with its parents; to be called once nothing is left to refuse.
  void make();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // the outermost first
};

/// Checks that `file` can be made: its folder is there and writable, and it is not itself a folder.
void prepare_file(const std::filesystem::path& file);

/// Checks that `path` exists; InvalidArgument naming it otherwise.
void require_input(const std::filesystem::path& path);

}  // namespace aerogel::cli
