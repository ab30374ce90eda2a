// A value of a JSON file that knows where it stands, so that a wrong one is an error naming the file, the
// field, what was expected and what was found.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace aerogel::nn::golden {

/// Cheap to copy; shares the file's contents. Whatever is not as asked for throws FormatError.
class JsonField {
 public:
  /// The whole of a file. FormatError with the byte where it stops being JSON.
  static JsonField read(const std::filesystem::path& path);

  JsonField at(const std::string& name) const;  ///< a field of an object that must be there
  JsonField at(std::size_t index) const;        ///< an element of a list that must be there
  bool contains(const std::string& name) const;
  std::size_t size() const;                                        ///< of a list
  std::vector<JsonField> elements() const;                         ///< of a list
  std::vector<std::pair<std::string, JsonField>> members() const;  ///< of an object, by name

  bool is_null() const;
  bool is_bool() const;
  bool is_integer() const;
  bool is_number() const;
  bool is_text() const;
  bool is_list() const;
  bool is_object() const;

  /// bool, std::int32_t, std::int64_t, float, double or std::string; or a std::vector of one of them. A
  /// number with a fraction, or too large for T, is no integer.
  template <class T>
  T get() const;
  /// The field's value, or `otherwise` where there is no such field.
  template <class T>
  T value(const std::string& name, T otherwise) const {
    return contains(name) ? at(name).get<T>() : otherwise;
  }

 private:
  JsonField(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* value, std::string file,
            std::string place);
  JsonField child(const nlohmann::json& value, const std::string& step) const;
  [[noreturn]] void refuse(const std::string& expected) const;

  std::shared_ptr<const nlohmann::json> root_;  // keeps *value_ alive
  const nlohmann::json* value_;
  std::string file_;
  std::string place_;  // "expect.out_indices.shape[1]", empty for the whole
};

}  // namespace aerogel::nn::golden
