// A bounds-checked cursor over a file's bytes. Every refusal carries the path and the byte offset.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "io/numbers.h"

namespace aerogel::io {

/// Reads forward through `bytes`, which must outlive it. Offsets count from the first byte of `bytes`.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t remaining() const { return bytes_.size() - offset_; }
  bool at_end() const { return offset_ == bytes_.size(); }
  const std::string& path() const { return path_; }

  [[noreturn]] void fail(const std::string& wrong) const { fail_at(offset_, wrong); }
  [[noreturn]] void fail_at(std::uint64_t offset, const std::string& wrong) const {
    throw FormatError(path_, static_cast<std::int64_t>(offset), wrong);
  }

  /// The next `count` bytes; `what` names them in the refusal.
  std::string_view take(std::uint64_t count, std::string_view what) {
    if (count > remaining()) {
      fail(fmt::format("expected {} bytes of {}, found {}", count, what, remaining()));
    }
    const std::string_view taken = bytes_.substr(offset_, count);
    offset_ += count;
    return taken;
  }

  void seek(std::uint64_t offset, std::string_view what) {
    if (offset > bytes_.size()) {
      fail(fmt::format("expected {} at byte {}, found a file of {} bytes", what, offset, bytes_.size()));
    }
    offset_ = offset;
  }

  /// An unsigned little-endian number.
  template <class T>
  T little(std::string_view what) {
    return load<T>(take(sizeof(T), what).data(), std::endian::little);
  }

  /// Up to the next newline or the end; the newline and a carriage return before it are consumed, not
  /// returned.
  std::string_view line() {
    const std::string_view rest = bytes_.substr(offset_);
    const std::size_t end = rest.find('\n');
    offset_ = end == std::string_view::npos ? bytes_.size() : offset_ + end + 1;
    std::string_view found = rest.substr(0, end);
    if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
    return found;
  }

  /// The next byte, or 0 at the end.
  char peek() const { return at_end() ? '\0' : bytes_[offset_]; }
  void skip(char byte) {
    while (!at_end() && bytes_[offset_] == byte) ++offset_;
  }
  void expect(char byte) {
    if (at_end() || bytes_[offset_] != byte) {
      fail(fmt::format("expected '{}', found {}", byte, excerpt(bytes_.substr(offset_))));
    }
    ++offset_;
  }

  /// After the last row: line ends, spaces and zero padding are all that may follow.
  void expect_end() {
    while (!at_end() && (peek() == '\n' || peek() == '\r' || peek() == ' ' || peek() == '\0')) ++offset_;
    if (!at_end()) fail(fmt::format("expected the end of the file, found {} more bytes", remaining()));
  }

 private:
  std::string_view bytes_;
  std::string path_;
  std::uint64_t offset_ = 0;
};

}  // namespace aerogel::io
