// What the tests of the parsers share: bytes from hex, and refusals with their offset.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "aerogel/error.h"

#include "io/parsers.h"

namespace aerogel::io {

inline std::string from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

/// The bytes of numbers as they lie in memory here.
template <class... T>
std::string raw(T... values) {
  std::string bytes;
  ((bytes += std::string(reinterpret_cast<const char*>(&values), sizeof(T))), ...);
  return bytes;
}

/// Expects parse() to throw a FormatError at `offset` whose message holds `part`.
template <class Parse>
void expect_format_error(Parse&& parse, std::int64_t offset, std::string_view part) {
  try {
    parse();
    ADD_FAILURE() << "expected a FormatError with " << part << ", found none";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.offset(), offset) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    EXPECT_EQ(error.path(), "bytes") << error.what();
  }
}

/// Every proper prefix must be refused with a FormatError, and nothing else.
template <class Parse>
void expect_no_prefix(const std::string& bytes, Parse&& parse) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse(std::string_view(bytes).substr(0, size)), FormatError)
        << "prefix of " << size << " bytes";
  }
}

/// A folder that goes with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "aerogel-io-XXXXXX").string();
    path_ = ::mkdtemp(name.data()) != nullptr ? name : "";
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace aerogel::io
