#include "conv/problem_string.h"

#include <charconv>
#include <cstdlib>

#include <fmt/core.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

std::int64_t parse_integer(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InvalidArgument(fmt::format("[problem] {} must be an integer, got '{}'", what, text));
  }
  return value;
}

/// Calls visit(piece) for the pieces between separators.
template <class Visit>
void split(std::string_view text, char separator, Visit&& visit) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

Dims parse_dims(std::string_view text, std::string_view what) {
  Dims dims;
  split(text, 'x', [&](std::string_view piece) { dims.push_back(parse_integer(piece, what)); });
  return dims;
}

ProblemString::ProblemString(std::string_view text) : whole_(text) {
  bool first = true;
  split(text, ':', [&](std::string_view piece) {
    if (first) {
      op_ = piece;
      first = false;
      return;
    }
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      throw InvalidArgument(fmt::format("[problem] expected key=value, got '{}' in '{}'", piece, whole_));
    }
    values_[std::string(piece.substr(0, equals))] = piece.substr(equals + 1);
  });
  if (op_.empty()) throw InvalidArgument(fmt::format("[problem] expected op:key=value:…, got '{}'", whole_));
}

const std::string& ProblemString::text(const std::string& key) const {
  const auto it = values_.find(key);
  if (it == values_.end())
    throw InvalidArgument(fmt::format("[problem] key '{}' is missing in '{}'", key, whole_));
  return it->second;
}

std::int64_t ProblemString::integer(const std::string& key) const { return parse_integer(text(key), key); }

double ProblemString::number(const std::string& key) const {
  const std::string& value = text(key);
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') {
    throw InvalidArgument(fmt::format("[problem] {} must be a number, got '{}'", key, value));
  }
  return number;
}

Dims ProblemString::dims(const std::string& key) const { return parse_dims(text(key), key); }

}  // namespace aerogel
