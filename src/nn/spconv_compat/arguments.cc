#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/spconv_compat/description.h"

namespace aerogel::nn::spconv {
namespace {

[[noreturn]] void refuse(const LayerDescription& layer, const std::string& name, std::string_view expected) {
  throw InvalidArgument(fmt::format("[{}] argument '{}' must be {}", layer.cls, name, expected));
}

}  // namespace

const Value* Arguments::find(const std::string& name) {
  asked_.push_back(name);
  const auto it = layer_.ctor.find(name);
  return it == layer_.ctor.end() ? nullptr : &it->second;
}

std::int64_t Arguments::required_int(const std::string& name) {
  const Value* value = find(name);
  if (value == nullptr || !std::holds_alternative<std::int64_t>(*value))
    refuse(layer_, name, "given, an int");
  return std::get<std::int64_t>(*value);
}

bool Arguments::boolean(const std::string& name, bool otherwise) {
  const Value* value = find(name);
  if (value == nullptr) return otherwise;
  if (!std::holds_alternative<bool>(*value)) refuse(layer_, name, "a bool");
  return std::get<bool>(*value);
}

double Arguments::number(const std::string& name, double otherwise) {
  const Value* value = find(name);
  if (value == nullptr) return otherwise;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  if (!std::holds_alternative<double>(*value)) refuse(layer_, name, "a number");
  return std::get<double>(*value);
}

std::string Arguments::text(const std::string& name) {
  const Value* value = find(name);
  if (value == nullptr) return "";
  if (!std::holds_alternative<std::string>(*value)) refuse(layer_, name, "a string");
  return std::get<std::string>(*value);
}

Dims Arguments::per_axis(const std::string& name) {
  const Value* value = find(name);
  if (value == nullptr) return {};
  if (const auto* same = std::get_if<std::int64_t>(value)) return Dims::filled(ndim_, *same);
  const auto* list = std::get_if<std::vector<std::int64_t>>(value);
  if (list == nullptr || static_cast<int>(list->size()) != ndim_) {
    refuse(layer_, name, fmt::format("an int or a list of {}", ndim_));
  }
  return Dims(std::span<const std::int64_t>(*list));
}

void Arguments::refuse_rest() const {
  std::string unknown;
  for (const auto& [name, value] : layer_.ctor) {
    if (std::find(asked_.begin(), asked_.end(), name) == asked_.end())
      unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (unknown.empty()) return;
  std::string known;
  for (const std::string& name : asked_) known += (known.empty() ? "" : ", ") + name;
  throw InvalidArgument(fmt::format("[{}] unknown arguments: {} (known: {})", layer_.cls, unknown, known));
}

}  // namespace aerogel::nn::spconv
