// Named modules, one after the other.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aerogel/nn.h"

namespace aerogel::nn {

class Sequential : public Module {
 public:
  void add(std::string name, std::unique_ptr<Module> module) {
    children_.push_back({std::move(name), std::move(module)});
  }

  SparseTensor forward(const SparseTensor& in, Context& context) const override;
  void parameters(const std::string& prefix, std::vector<Parameter>& out) override;

 private:
  struct Child {
    std::string name;
    std::unique_ptr<Module> module;
  };
  std::vector<Child> children_;
};

}  // namespace aerogel::nn
