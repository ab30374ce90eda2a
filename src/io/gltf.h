// The parts of a glTF document that shape a surface: checked look-ups in its JSON, and accessors over its
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/byte_reader.h"

namespace aerogel::io {

/// Rows of numbers that lie inside the binary chunk.
struct GltfAccessor {
  std::uint64_t count = 0;
  std::size_t width = 1;  ///< numbers of a row
  DType dtype = DType::kF32;
  std::uint64_t stride = 0;
  const char* first = nullptr;  ///< null: all zeros, as a missing view says
  double scale = 1;             ///< of normalized integers

  /// Column `column` of all rows.
  std::vector<double> read(std::size_t column) const;
};

/// Refuses by FormatError at the JSON chunk, with the name of what is wrong.
class GltfDocument {
 public:
  GltfDocument(nlohmann::json json, std::string_view binary, const ByteReader& reader, std::uint64_t json_at)
      : json_(std::move(json)), binary_(binary), reader_(reader), json_at_(json_at) {}

  using Json = nlohmann::json;
  const Json& root() const { return json_; }
  [[noreturn]] void fail(const std::string& wrong) const { reader_.fail_at(json_at_, wrong); }

  /// Entry `index` of the array `name` of the document.
  const Json& entry(const char* name, std::uint64_t index) const;
  /// The member, or null; FormatError if it is there and no array.
  const Json* array(const Json& object, const char* name) const;
  /// A whole number from 0 on; `fallback` where there is none, FormatError without one.
  std::uint64_t count(const Json& object, const char* name, std::optional<std::uint64_t> fallback = {}) const;
  /// An item of an array as an index.
  std::uint64_t index(const Json& item, const char* what) const;
  /// Exactly `size` numbers, or nothing where the member is absent.
  std::optional<std::vector<double>> numbers(const Json& object, const char* name, std::size_t size) const;

  /// FormatError: rows that do not lie inside the binary chunk, sparse rows, another file's.
  GltfAccessor accessor(std::uint64_t index) const;

 private:
  std::string_view view(std::uint64_t index, std::uint64_t& stride) const;

  Json json_;
  std::string_view binary_;
  const ByteReader& reader_;
  std::uint64_t json_at_;
};

}  // namespace aerogel::io
