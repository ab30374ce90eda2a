// `op:key=value:…`, the one way a problem is written: printed by tests, logs and benchmarks, accepted back by
// each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "aerogel/types.h"

namespace aerogel {

/// A parsed problem string. Getters throw InvalidArgument naming the key when it is missing or not of that
/// form.
class ProblemString {
 public:
  explicit ProblemString(std::string_view text);

  const std::string& op() const { return op_; }
  bool has(const std::string& key) const { return values_.count(key) > 0; }
  const std::string& text(const std::string& key) const;
  std::int64_t integer(const std::string& key) const;
  double number(const std::string& key) const;
  Dims dims(const std::string& key) const;  ///< "3x3x3"

 private:
  std::string whole_;
  std::string op_;
  std::map<std::string, std::string> values_;
};

/// "3x3x3" as Dims; InvalidArgument naming `what`.
Dims parse_dims(std::string_view text, std::string_view what);

}  // namespace aerogel
