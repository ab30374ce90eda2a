// Arrays against what was recorded: integers exactly, floats within a bound.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerogel/sparse_tensor.h"

namespace aerogel::nn::golden {

/// How far one array was from its recording.
struct Measure {
  std::string name;
  std::string rule;          ///< "exact", "atol" or "relative L2"
  double max_abs_error = 0;  ///< count of differing elements for "exact"
  double error = 0;          ///< what is held against `bound`
  double bound = 0;
};

class Comparison {
 public:
  /// Any integer dtype on either side.
  void integers(std::string_view name, const Tensor& got, const Tensor& expected);
  /// |got − expected| ≤ atol, or without one ‖got − expected‖ ≤ 1e-5 · ‖expected‖. NaN fails.
  void floats(std::string_view name, const Tensor& got, const Tensor& expected, std::optional<double> atol);
  void shape(std::string_view name, const Dims& got, const Dims& expected);
  void text(std::string_view name, const std::string& got, const std::string& expected);
  void not_compared(std::string name) { not_compared_.push_back(std::move(name)); }
  /// What a reader of a pass must know.
  void remark(std::string text) { remarks_.push_back(std::move(text)); }

  const std::vector<Measure>& measures() const noexcept { return measures_; }
  const std::vector<std::string>& failures() const noexcept { return failures_; }
  const std::vector<std::string>& left_out() const noexcept { return not_compared_; }
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  bool same_shape(std::string_view name, const Tensor& got, const Tensor& expected);

  std::vector<Measure> measures_;
  std::vector<std::string> failures_;
  std::vector<std::string> not_compared_;
  std::vector<std::string> remarks_;
};

/// The same rows in (batch, columns left to right) order, as recordings are.
struct SortedRows {
  Tensor indices;   ///< [N, 1+ndim] i32
  Tensor features;  ///< [N, C] f32
};
SortedRows sorted_rows(const SparseTensor& tensor);

}  // namespace aerogel::nn::golden
