// The five ways a call can be refused. Nothing in the library prints, aborts or exits.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace aerogel {

/// The caller's mistake: shapes, ranges, names. Says what was expected and what came. Python: ValueError.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A right request that no kernel here takes; lists each candidate with its own reason. Python:
/// NotImplementedError.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad bytes in a file: path, byte offset (or -1 where none applies), what was expected and what came.
class FormatError : public std::runtime_error {
 public:
  FormatError(const std::string& path, std::int64_t offset, const std::string& what_is_wrong);
  const std::string& path() const noexcept { return path_; }
  std::int64_t offset() const noexcept { return offset_; }

 private:
  std::string path_;
  std::int64_t offset_;
};

/// A driver or a launch failed, or a file could not be opened, read or written by the system.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An allocation was refused: how much was asked, how much was free (-1: unknown), on which device.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(std::int64_t asked_bytes, std::int64_t free_bytes, const std::string& device);
  std::int64_t asked_bytes() const noexcept { return asked_; }
  std::int64_t free_bytes() const noexcept { return free_; }

 private:
  std::int64_t asked_;
  std::int64_t free_;
};

}  // namespace aerogel
