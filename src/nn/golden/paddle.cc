// Paddle's literal vectors, through our own ops: kernels stand as [kd, kh, kw, C_in, C_out], numbers have
// four digits.
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/weight_layout.h"

#include "nn/golden/kinds.h"

namespace aerogel::nn::golden {
namespace {

constexpr double kTolerance = 1e-3;  // the vectors are rounded to four digits

Tensor floats_of(const JsonField& flat, const Dims& shape) {
  return Tensor::from<float>(shape, flat.get<std::vector<float>>());
}

Tensor rows_of(const JsonField& rows) {
  std::vector<std::int32_t> flat;
  std::int64_t columns = 4;
  for (const JsonField& row : rows.elements()) {
    const auto values = row.get<std::vector<std::int32_t>>();
    columns = static_cast<std::int64_t>(values.size());
    flat.insert(flat.end(), values.begin(), values.end());
  }
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(rows.size()), columns}, flat);
}

SparseTensor input_of(const JsonField& vector, std::int64_t channels) {
  const Tensor indices = rows_of(vector.at("indices"));
  return SparseTensor::create(floats_of(vector.at("features"), {indices.size(0), channels}), indices,
                              dims_of(vector.at("spatial_shape")), vector.value<std::int64_t>("batch", 1));
}

ConvOptions geometry_of(const JsonField& vector) {
  return {dims_of(vector.at("stride")), dims_of(vector.at("padding")), dims_of(vector.at("dilation")), {}};
}

void compare(const SparseTensor& out, const JsonField& vector, Comparison& comparison) {
  const SortedRows rows = sorted_rows(out);
  comparison.integers("out_indices", rows.indices, rows_of(vector.at("out_indices")));
  comparison.floats("out_features", rows.features,
                    floats_of(vector.at("out_features"), rows.features.shape()),
                    vector.value("tol", kTolerance));
  comparison.shape("out_spatial_shape", out.coordinates.spatial_shape(),
                   dims_of(vector.at("out_spatial_shape")));
  for (const auto& [name, value] : vector.members()) {
    if (name.find("_grad_") != std::string::npos && !value.is_null())
      return comparison.not_compared("gradients");
  }
}

}  // namespace

void run_paddle_conv(const JsonField& vector, const ExecOptions& exec, Comparison& comparison) {
  const Dims stored = dims_of(vector.at("kernel_dims"));
  const ConvWeight weight(import_weight(floats_of(vector.at("kernel"), stored), WeightLayout::kSpconv1));
  const SparseTensor in = input_of(vector, vector.at("cin").get<std::int64_t>());
  Epilogue epilogue;
  if (!vector.at("bias").is_null()) epilogue.bias = floats_of(vector.at("bias"), {stored[4]});
  const bool subm = vector.at("subm").get<bool>();
  const ConvOptions geometry = geometry_of(vector);
  compare(subm ? subm_conv(in, weight, geometry, epilogue, exec)
               : sparse_conv(in, weight, geometry, epilogue, exec),
          vector, comparison);
}

void run_paddle_max_pool(const JsonField& vector, const ExecOptions& exec, Comparison& comparison) {
  const SparseTensor in = input_of(vector, vector.at("channels").get<std::int64_t>());
  compare(max_pool(in, dims_of(vector.at("kernel")), geometry_of(vector), PoolSites::kRegular,
                   MaxIdentity::kNegativeInfinity, exec),
          vector, comparison);
}

}  // namespace aerogel::nn::golden
