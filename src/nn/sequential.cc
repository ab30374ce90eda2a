#include "nn/sequential.h"

#include "nn/scope.h"

namespace aerogel::nn {

SparseTensor Sequential::forward(const SparseTensor& in, Context& context) const {
  SparseTensor x = in;
  for (const Child& child : children_) {
    const Scope scope(context, child.name);
    x = child.module->forward(x, context);
  }
  return x;
}

void Sequential::parameters(const std::string& prefix, std::vector<Parameter>& out) {
  for (const Child& child : children_) child.module->parameters(prefix + child.name + ".", out);
}

}  // namespace aerogel::nn
