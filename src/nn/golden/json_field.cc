#include "nn/golden/json_field.h"

#include <type_traits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/io.h"

namespace aerogel::nn::golden {
namespace {

using Json = nlohmann::json;

/// "a list of 3", "the text 'abc'", "null": short enough for a sentence.
std::string found(const Json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_object()) return "an object";
  if (value.is_null() || value.is_boolean()) return value.dump();
  constexpr std::size_t kMost = 40;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return (value.is_string() ? "the text " : "the number ") + text;
}

template <class T>
const char* name_of() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_integral_v<T>) return sizeof(T) == 4 ? "a 32-bit integer" : "an integer";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  return "a text";
}

template <class T>
bool holds(const Json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_integral_v<T>) {
    if (value.is_number_unsigned()) return std::in_range<T>(value.get<std::uint64_t>());
    return value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  } else if constexpr (std::is_floating_point_v<T>) {
    return value.is_number();
  } else {
    return value.is_string();
  }
}

template <class T>
struct ElementOf {
  using type = void;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = T;
};

/// What stands where a file stops being JSON.
std::string what_stands_at(const std::string& bytes, std::size_t at) {
  if (at >= bytes.size()) return "the end of the file";
  const auto c = static_cast<unsigned char>(bytes[at]);
  return c > 0x20 && c < 0x7f ? fmt::format("'{}'", bytes[at]) : fmt::format("the byte 0x{:02x}", c);
}

}  // namespace

JsonField::JsonField(std::shared_ptr<const Json> root, const Json* value, std::string file, std::string place)
    : root_(std::move(root)), value_(value), file_(std::move(file)), place_(std::move(place)) {}

JsonField JsonField::read(const std::filesystem::path& path) {
  const std::string bytes = io::read_file(path);
  try {
    auto root = std::make_shared<const Json>(Json::parse(bytes));
    const Json* value = root.get();
    return {std::move(root), value, path.string(), ""};
  } catch (const Json::parse_error& error) {  // its byte counts from 1
    const std::size_t at = error.byte > 0 ? error.byte - 1 : 0;
    throw FormatError(path.string(), static_cast<std::int64_t>(at),
                      fmt::format("expected JSON, found {}", what_stands_at(bytes, at)));
  } catch (const Json::exception&) {  // a number past double's range
    throw FormatError(path.string(), -1, "expected JSON, found a number that no double holds");
  }
}

void JsonField::refuse(const std::string& expected) const {
  throw FormatError(file_, -1,
                    fmt::format("{}: expected {}, found {}", place_.empty() ? "the whole" : place_, expected,
                                found(*value_)));
}

JsonField JsonField::child(const Json& value, const std::string& step) const {
  const bool dot = !place_.empty() && step[0] != '[';
  return {root_, &value, file_, place_ + (dot ? "." : "") + step};
}

JsonField JsonField::at(const std::string& name) const {
  if (!is_object()) refuse(fmt::format("an object with the field {}", name));
  const auto it = value_->find(name);
  if (it == value_->end()) {
    std::string names;
    for (const auto& [other, value] : value_->items()) names += (names.empty() ? "" : ", ") + other;
    if (names.size() > 200) names = names.substr(0, 200) + "…";
    throw FormatError(
        file_, -1,
        fmt::format("{}: expected the field {}, found {}", place_.empty() ? "the whole" : place_, name,
                    names.empty() ? "none" : names));
  }
  return child(*it, name);
}

JsonField JsonField::at(std::size_t index) const {
  if (!is_list() || index >= value_->size()) refuse(fmt::format("a list of at least {}", index + 1));
  return child((*value_)[index], fmt::format("[{}]", index));
}

bool JsonField::contains(const std::string& name) const { return value_->contains(name); }

std::size_t JsonField::size() const {
  if (!is_list()) refuse("a list");
  return value_->size();
}

std::vector<JsonField> JsonField::elements() const {
  std::vector<JsonField> fields;
  fields.reserve(size());
  for (std::size_t i = 0; i < value_->size(); ++i) fields.push_back(at(i));
  return fields;
}

std::vector<std::pair<std::string, JsonField>> JsonField::members() const {
  if (!is_object()) refuse("an object");
  std::vector<std::pair<std::string, JsonField>> fields;
  for (const auto& [name, value] : value_->items()) fields.emplace_back(name, child(value, name));
  return fields;
}

bool JsonField::is_null() const { return value_->is_null(); }
bool JsonField::is_bool() const { return value_->is_boolean(); }
bool JsonField::is_integer() const { return value_->is_number_integer(); }
bool JsonField::is_number() const { return value_->is_number(); }
bool JsonField::is_text() const { return value_->is_string(); }
bool JsonField::is_list() const { return value_->is_array(); }
bool JsonField::is_object() const { return value_->is_object(); }

template <class T>
T JsonField::get() const {
  using Element = typename ElementOf<T>::type;
  if constexpr (std::is_void_v<Element>) {
    if (!holds<T>(*value_)) refuse(name_of<T>());
    return value_->get<T>();
  } else {
    if (!is_list()) refuse(fmt::format("a list, each element {}", name_of<Element>()));
    T values;
    values.reserve(value_->size());
    for (std::size_t i = 0; i < value_->size(); ++i) {
      if (!holds<Element>((*value_)[i])) at(i).refuse(name_of<Element>());
      values.push_back((*value_)[i].template get<Element>());
    }
    return values;
  }
}

template bool JsonField::get() const;
template std::int32_t JsonField::get() const;
template std::int64_t JsonField::get() const;
template float JsonField::get() const;
template double JsonField::get() const;
template std::string JsonField::get() const;
template std::vector<std::int32_t> JsonField::get() const;
template std::vector<std::int64_t> JsonField::get() const;
template std::vector<float> JsonField::get() const;
template std::vector<std::string> JsonField::get() const;

}  // namespace aerogel::nn::golden
