#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

namespace aerogel::io {
namespace {

/// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  int close() {
    const int result = number_ >= 0 ? ::close(number_) : 0;
    number_ = -1;
    return result;
  }

 private:
  int number_;
};

/// Removes the temporary file unless it was renamed.
struct TemporaryFile {
  Path path;
  bool renamed = false;
  ~TemporaryFile() {
    if (!renamed) ::unlink(path.c_str());
  }
};

[[noreturn]] void fail(std::string_view verb, const Path& path, const std::string& why) {
  throw DeviceError(fmt::format("{}: cannot {}: {}", path.string(), verb, why));
}

[[noreturn]] void fail(std::string_view verb, const Path& path, int error) {
  fail(verb, path, std::generic_category().message(error));
}

/// Folders, pipes, sockets and devices are refused, best before they are opened: opening a pipe waits for its
/// other end, and opening a device may do things to it.
void require_regular(std::string_view verb, const Path& path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  const char* what = S_ISDIR(status.st_mode)    ? "a folder"
                     : S_ISFIFO(status.st_mode) ? "a pipe"
                     : S_ISSOCK(status.st_mode) ? "a socket"
                                                : "a device";
  throw InvalidArgument(
      fmt::format("{}: cannot {}: expected a regular file, this is {}", path.string(), verb, what));
}

void write_all(int descriptor, std::string_view bytes, const Path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// What `path` names, through symbolic links: the rename must replace the file and not the link.
Path link_target(const Path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const Path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

std::string read_file(const Path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail("open", path, errno);
  require_regular("read", path, status);
  // O_NONBLOCK, and looked at again: another file may have taken the name since.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail("open", path, errno);
  if (::fstat(file.get(), &status) != 0) fail("open", path, errno);
  require_regular("read", path, status);
  std::string bytes;
  try {
    bytes.resize(static_cast<std::size_t>(status.st_size));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(status.st_size, -1, "cpu");
  }
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) fail("read", path, fmt::format("expected {} bytes, found {}", bytes.size(), filled));
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

void write_file(const Path& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  const Path target = link_target(path);
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists) require_regular("write", path, status);

  // Beside the target, because rename does not cross file systems; numbered, because two threads may write at
  // once.
  TemporaryFile temporary{target.parent_path() /
                          fmt::format(".{}.{}.{}.tmp", target.filename().string(), ::getpid(), counter++)};
  Descriptor file(::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    temporary.renamed = true;  // nothing of ours is there to remove
    fail("write", path, errno);
  }
  if (exists && ::fchmod(file.get(), status.st_mode & 07777) != 0) fail("write", path, errno);
  write_all(file.get(), bytes, path);
  if (::fsync(file.get()) != 0) fail("write", path, errno);
  if (file.close() != 0) fail("write", path, errno);
  if (::rename(temporary.path.c_str(), target.c_str()) != 0) fail("write", path, errno);
  temporary.renamed = true;
}

}  // namespace aerogel::io
