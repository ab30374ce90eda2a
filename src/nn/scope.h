// The dotted name of the layer that runs, kept in ExecOptions::label so that every op record carries it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "aerogel/nn.h"

namespace aerogel::nn {

/// Appends ".name" to the label for as long as it lives.
class Scope {
 public:
  Scope(Context& context, std::string_view name) : label_(context.exec.label), before_(label_) {
    if (!label_.empty() && !name.empty()) label_ += '.';
    label_ += name;
  }
  ~Scope() { label_ = std::move(before_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  std::string& label_;
  std::string before_;
};

/// "[conv1.0.conv1]" for messages; "[nn]" where a layer runs by itself.
inline std::string where(const Context& context) {
  return "[" + (context.exec.label.empty() ? std::string("nn") : context.exec.label) + "]";
}

}  // namespace aerogel::nn
