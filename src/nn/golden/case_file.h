// What stands in a case.json: arrays by reference, sparse tensors, layer descriptions.
#pragma once

#include <filesystem>
#include <string>

#include "aerogel/sparse_tensor.h"

#include "nn/golden/comparison.h"
#include "nn/golden/json_field.h"
#include "nn/spconv_compat/description.h"

namespace aerogel::nn::golden {

/// A case.json with the folder that its arrays stand in.
struct CaseFile {
  std::filesystem::path folder;
  JsonField json;

  /// {"npy": "name.npy", "dtype": "float32", "shape": […]}; the file must have that dtype and shape.
  Tensor array(const JsonField& reference) const;
  /// {"features": …, "indices": …, "spatial_shape": […], "batch_size": n}
  SparseTensor sparse(const JsonField& input) const;
  spconv::LayerDescription layer(const JsonField& description) const;
  /// name → array; `num_batches_tracked` is left out.
  StateDict arrays(const JsonField& by_name) const;

  /// out_indices, out_features within atol_out, out_spatial_shape; notes gradients that were recorded too.
  void compare_output(const SparseTensor& out, Comparison& comparison) const;
};

Dims dims_of(const JsonField& list);

/// The class and constructor arguments alone.
spconv::LayerDescription described(const JsonField& description);

}  // namespace aerogel::nn::golden
