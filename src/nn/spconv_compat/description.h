// A layer as spconv code writes it: class name, constructor arguments, parameters. Where it was read from
// (JSON, a Python object) does not matter here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "aerogel/nn.h"

namespace aerogel::nn::spconv {

using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;

struct LayerDescription {
  std::string cls;                         ///< "SubMConv3d", "nn.BatchNorm1d", "SparseSequential", …
  std::map<std::string, Value> ctor;       ///< by argument name; None is left out
  StateDict params;                        ///< of this layer alone: weight, bias, …
  std::vector<LayerDescription> children;  ///< SparseSequential
};

/// Reads constructor arguments and refuses those that nobody asked for.
class Arguments {
 public:
  Arguments(const LayerDescription& layer, int ndim) : layer_(layer), ndim_(ndim) {}

  std::int64_t required_int(const std::string& name);
  bool boolean(const std::string& name, bool otherwise);
  double number(const std::string& name, double otherwise);
  std::string text(const std::string& name);
  /// One value per axis, from an int or a list of ndim; empty if absent.
  Dims per_axis(const std::string& name);
  /// Taken, but without effect here.
  void ignore(const std::string& name) { asked_.push_back(name); }
  /// throws InvalidArgument listing the arguments that were given but not asked for.
  void refuse_rest() const;

 private:
  const Value* find(const std::string& name);

  const LayerDescription& layer_;
  int ndim_;
  std::vector<std::string> asked_;
};

}  // namespace aerogel::nn::spconv
