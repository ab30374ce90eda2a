// Unions of site sets, and sites to and from dense arrays.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "backend/reference/kernels_of.h"
#include "core/feature_types.h"
#include "core/half.h"

namespace aerogel::reference {
namespace {

using Row = std::array<std::int32_t, 1 + kMaxNdim>;

Row row_of(const Coordinates& set, std::int64_t site) {
  Row row{};
  std::copy_n(set.row(site), 1 + set.ndim(), row.begin());
  return row;
}

/// The element of a dense array that holds channel c of the cell `row`.
std::int64_t dense_offset(const std::int32_t* row, const Dims& shape, bool channels_first, std::int64_t c) {
  const int ndim = shape.size() - 2;
  std::int64_t offset = row[0];
  if (channels_first) offset = offset * shape[1] + c;
  for (int axis = 0; axis < ndim; ++axis)
    offset = offset * shape[axis + (channels_first ? 2 : 1)] + row[1 + axis];
  return channels_first ? offset : offset * shape[1 + ndim] + c;
}

}  // namespace

void site_union(const SiteUnionArgs& args) {
  std::map<Row, std::int32_t> rows;
  for (const Coordinates* set : {&args.a, &args.b}) {
    for (std::int64_t i = 0; i < set->size(); ++i) rows.emplace(row_of(*set, i), 0);
  }
  const int width = 1 + args.a.ndim();
  Tensor indices = Tensor::empty({static_cast<std::int64_t>(rows.size()), width}, DType::kI32);
  std::int32_t next = 0;
  for (auto& [row, number] : rows) {
    std::copy_n(row.begin(), width, indices.mutable_data<std::int32_t>() + std::int64_t{next} * width);
    number = next++;
  }
  *args.out =
      Coordinates::adopt_sorted(indices, args.a.spatial_shape(), args.a.batch_size(), args.a.tensor_stride());
  const auto places = [&](const Coordinates& set) {
    Tensor result = Tensor::empty({set.size()}, DType::kI32);
    for (std::int64_t i = 0; i < set.size(); ++i)
      result.mutable_data<std::int32_t>()[i] = rows.at(row_of(set, i));
    return result;
  };
  *args.rows_a = places(args.a);
  *args.rows_b = places(args.b);
}

namespace {

template <class T>
void to_dense_of(const ToDenseArgs& args) {
  T* out = args.out.mutable_data<T>();
  std::fill_n(out, args.out.numel(), T{});
  const std::int64_t channels = args.in.size(1);
  for (std::int64_t i = 0; i < args.in.numel(); ++i) {
    out[dense_offset(args.coordinates.row(i / channels), args.out.shape(), args.channels_first,
                     i % channels)] = args.in.data<T>()[i];
  }
}

template <class T>
void from_dense_of(const FromDenseArgs& args) {
  const Dims& shape = args.dense.shape();
  const int ndim = shape.size() - 2;
  const std::int64_t channels = args.channels_first ? shape[1] : shape[1 + ndim];
  const std::int64_t cells = channels > 0 ? args.dense.numel() / channels : 0;
  std::vector<std::int32_t> indices;
  std::vector<T> features;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    Row row{};
    std::int64_t rest = cell;
    for (int axis = ndim - 1; axis >= 0; --axis) {
      const std::int64_t extent = shape[axis + (args.channels_first ? 2 : 1)];
      row.at(static_cast<std::size_t>(axis) + 1) = static_cast<std::int32_t>(rest % extent);
      rest /= extent;
    }
    row[0] = static_cast<std::int32_t>(rest);
    std::vector<T> values;
    for (std::int64_t c = 0; c < channels; ++c) {
      values.push_back(args.dense.data<T>()[dense_offset(row.data(), shape, args.channels_first, c)]);
    }
    if (std::all_of(values.begin(), values.end(), [](T value) { return to_f32(value) == 0; })) continue;
    indices.insert(indices.end(), row.begin(), row.begin() + 1 + ndim);
    features.insert(features.end(), values.begin(), values.end());
  }
  const auto n = static_cast<std::int64_t>(indices.size()) / (1 + ndim);
  *args.indices = Tensor::from<std::int32_t>({n, 1 + ndim}, indices);
  *args.features = Tensor::from<T>({n, channels}, features);
}

}  // namespace

void to_dense(const ToDenseArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { to_dense_of<T>(args); });
}
void from_dense(const FromDenseArgs& args) {
  with_feature_type(args.dense.dtype(), [&]<class T>(T) { from_dense_of<T>(args); });
}

}  // namespace aerogel::reference
