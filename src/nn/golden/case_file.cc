#include "nn/golden/case_file.h"

#include <map>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

namespace aerogel::nn::golden {
namespace {

/// NumPy's name of a dtype.
DType parse_numpy_dtype(const std::string& name) {
  static const std::map<std::string, DType> names = {
      {"float32", DType::kF32}, {"float64", DType::kF64}, {"float16", DType::kF16},
      {"int8", DType::kI8},     {"uint8", DType::kU8},    {"int16", DType::kI16},
      {"int32", DType::kI32},   {"int64", DType::kI64},   {"bool", DType::kBool}};
  const auto it = names.find(name);
  if (it == names.end()) throw InvalidArgument(fmt::format("[case] unknown dtype '{}'", name));
  return it->second;
}

spconv::Value value_of(const JsonField& value) {
  if (value.is_bool()) return value.get<bool>();
  if (value.is_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_text()) return value.get<std::string>();
  return value.get<std::vector<std::int64_t>>();
}

}  // namespace

Dims dims_of(const JsonField& list) {
  const auto values = list.get<std::vector<std::int64_t>>();
  if (values.size() > Dims::kCapacity) {
    throw InvalidArgument(
        fmt::format("[case] {} extents, at most {} are possible", values.size(), Dims::kCapacity));
  }
  return Dims(std::span<const std::int64_t>(values));
}

Tensor CaseFile::array(const JsonField& reference) const {
  const auto name = reference.at("npy").get<std::string>();
  if (std::filesystem::path(name).filename() != name) {  // arrays stand beside case.json
    throw InvalidArgument(fmt::format("[case] '{}' is not a file name", name));
  }
  Tensor tensor = io::read_npy(folder / name);
  const Dims shape = dims_of(reference.at("shape"));
  const DType dtype = parse_numpy_dtype(reference.at("dtype").get<std::string>());
  if (!(tensor.shape() == shape) || tensor.dtype() != dtype) {
    throw InvalidArgument(fmt::format("[case] {}: case.json says {} {}, the file has {}", name,
                                      dtype_name(dtype), shape.str(), tensor.str()));
  }
  return tensor;
}

SparseTensor CaseFile::sparse(const JsonField& input) const {
  return SparseTensor::create(array(input.at("features")), array(input.at("indices")),
                              dims_of(input.at("spatial_shape")), input.at("batch_size").get<std::int64_t>());
}

StateDict CaseFile::arrays(const JsonField& by_name) const {
  StateDict state;
  for (const auto& [name, reference] : by_name.members()) {
    if (name.find("num_batches_tracked") == std::string::npos) state[name] = array(reference);
  }
  return state;
}

spconv::LayerDescription described(const JsonField& description) {
  spconv::LayerDescription layer;
  layer.cls = description.at("cls").get<std::string>();
  if (description.contains("ctor")) {
    for (const auto& [name, value] : description.at("ctor").members()) {
      if (!value.is_null()) layer.ctor[name] = value_of(value);
    }
  }
  return layer;
}

spconv::LayerDescription CaseFile::layer(const JsonField& description) const {
  spconv::LayerDescription result = described(description);
  if (description.contains("params")) result.params = arrays(description.at("params"));
  if (description.contains("children")) {
    for (const JsonField& child : description.at("children").elements())
      result.children.push_back(layer(child));
  }
  return result;
}

void CaseFile::compare_output(const SparseTensor& out, Comparison& comparison) const {
  const JsonField& expect = json.at("expect");
  const SortedRows rows = sorted_rows(out);
  std::optional<double> atol;
  if (expect.contains("atol_out")) atol = expect.at("atol_out").get<double>();
  comparison.integers("out_indices", rows.indices, array(expect.at("out_indices")));
  comparison.floats("out_features", rows.features, array(expect.at("out_features")), atol);
  if (expect.contains("out_spatial_shape")) {
    comparison.shape("out_spatial_shape", out.coordinates.spatial_shape(),
                     dims_of(expect.at("out_spatial_shape")));
  }
  if (expect.contains("grad_out")) comparison.not_compared("gradients");
}

}  // namespace aerogel::nn::golden
