// Where results go: folders and files are checked before any work is done.
#pragma once

#include <filesystem>

namespace aerogel::cli {

/// Makes `folder` with its parents and checks that files can be made in it; InvalidArgument naming it
/// otherwise.
void prepare_folder(const std::filesystem::path& folder);

/// Checks that `file` can be made: its folder is there and writable, and it is not itself a folder.
void prepare_file(const std::filesystem::path& file);

/// Checks that `path` exists; InvalidArgument naming it otherwise.
void require_input(const std::filesystem::path& path);

}  // namespace aerogel::cli
