// Parts of a set, moved and scaled sets, batches: the sorted rows of the input, filtered and rewritten.
#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/sites.h"

#include "ops/checks.h"
#include "ops/gather.h"

namespace aerogel {
namespace {

/// Rows in sorted order that keep(row) holds for.
template <class Keep>
std::vector<std::int64_t> sorted_rows(const Coordinates& set, const Keep& keep) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const std::int64_t row = sorted_row(set, i);
    if (keep(row)) rows.push_back(row);
  }
  return rows;
}

/// The sites `rows`, each rewritten by move(from [1+ndim], to [1+ndim]), which keeps them sorted.
template <class Move>
Tensor moved_sites(const Coordinates& set, const std::vector<std::int64_t>& rows, const Move& move) {
  const int width = 1 + set.ndim();
  Tensor indices = Tensor::empty({std::ssize(rows), width}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  for (const std::int64_t row : rows) {
    move(set.row(row), to);
    to += width;
  }
  return indices;
}

SparseTensor gather_sites(std::string_view op, const SparseTensor& in, const std::vector<std::int64_t>& rows,
                          const Coordinates& sites, const ExecOptions& exec) {
  OpRecord record = sites_record(op, in);
  const Tensor ids =
      row_ids(std::ssize(rows), exec, [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
  return finish(gather(in.features, ids, exec, record), sites, exec, record);
}

void check_axes(std::string_view op, std::string_view name, const Dims& given, const Coordinates& set) {
  if (given.size() != set.ndim()) {
    throw InvalidArgument(
        fmt::format("[{}] {} must have {} values, got {}", op, name, set.ndim(), given.str()));
  }
}

}  // namespace

SparseTensor prune(const SparseTensor& in, const Tensor& keep, const ExecOptions& exec) {
  constexpr std::string_view kOp = "prune";
  check_sparse(kOp, in);
  check_dtype(kOp, "keep", keep, DType::kBool, {in.sites()});
  const Tensor mask = keep.contiguous();
  const Coordinates& set = in.coordinates;
  const bool* kept = mask.data<bool>();
  const auto rows = sorted_rows(set, [kept](std::int64_t row) { return kept[row]; });
  const int width = 1 + set.ndim();
  const Tensor indices = moved_sites(
      set, rows, [width](const std::int32_t* from, std::int32_t* to) { std::copy_n(from, width, to); });
  return gather_sites(
      kOp, in, rows,
      Coordinates::adopt_sorted(indices, set.spatial_shape(), set.batch_size(), set.tensor_stride()), exec);
}

SparseTensor crop(const SparseTensor& in, const Dims& lo, const Dims& hi, const ExecOptions& exec) {
  constexpr std::string_view kOp = "crop";
  check_sparse(kOp, in);
  const Coordinates& set = in.coordinates;
  check_axes(kOp, "lo", lo, set);
  check_axes(kOp, "hi", hi, set);
  Dims shape;
  for (int axis = 0; axis < set.ndim(); ++axis) {
    if (lo[axis] < 0 || lo[axis] >= hi[axis] || hi[axis] > set.spatial_shape()[axis]) {
      throw InvalidArgument(fmt::format("[crop] expected 0 <= lo < hi <= {} on axis {}, got {} and {}",
                                        set.spatial_shape()[axis], axis, lo[axis], hi[axis]));
    }
    shape.push_back(hi[axis] - lo[axis]);
  }
  const auto rows = sorted_rows(set, [&](std::int64_t row) {
    for (int axis = 0; axis < set.ndim(); ++axis) {
      const std::int32_t at = set.row(row)[1 + axis];
      if (at < lo[axis] || at >= hi[axis]) return false;
    }
    return true;
  });
  const Tensor indices = moved_sites(set, rows, [&](const std::int32_t* from, std::int32_t* to) {
    to[0] = from[0];
    for (int axis = 0; axis < set.ndim(); ++axis)
      to[1 + axis] = static_cast<std::int32_t>(from[1 + axis] - lo[axis]);
  });
  return gather_sites(kOp, in, rows,
                      Coordinates::adopt_sorted(indices, shape, set.batch_size(), set.tensor_stride()), exec);
}

SparseTensor sort_rows(const SparseTensor& in, const ExecOptions& exec) {
  constexpr std::string_view kOp = "sort_rows";
  check_sparse(kOp, in);
  const Coordinates& set = in.coordinates;
  if (set.is_sorted()) return in;
  const auto rows = sorted_rows(set, [](std::int64_t) { return true; });
  const int width = 1 + set.ndim();
  const Tensor indices = moved_sites(
      set, rows, [width](const std::int32_t* from, std::int32_t* to) { std::copy_n(from, width, to); });
  return gather_sites(
      kOp, in, rows,
      Coordinates::adopt_sorted(indices, set.spatial_shape(), set.batch_size(), set.tensor_stride()), exec);
}

SparseTensor scale_coordinates(const SparseTensor& in, const Dims& factor, const Dims& spatial_shape,
                               const ExecOptions& exec) {
  constexpr std::string_view kOp = "scale_coordinates";
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check_sparse(kOp, in);
  const Coordinates& set = in.coordinates;
  check_axes(kOp, "factor", factor, set);
  if (!spatial_shape.empty()) check_axes(kOp, "spatial_shape", spatial_shape, set);
  Dims shape;
  Dims stride;
  for (int axis = 0; axis < set.ndim(); ++axis) {
    const std::int64_t most = kMost / set.spatial_shape()[axis];
    if (factor[axis] < 1 || factor[axis] > most) {
      throw InvalidArgument(fmt::format("[{}] the factor on axis {} of extent {} must be 1 to {}, got {}",
                                        kOp, axis, set.spatial_shape()[axis], most, factor[axis]));
    }
    shape.push_back(spatial_shape.empty() ? set.spatial_shape()[axis] * factor[axis] : spatial_shape[axis]);
    stride.push_back(std::max<std::int64_t>(1, set.tensor_stride()[axis] / factor[axis]));
  }
  const auto rows = sorted_rows(set, [](std::int64_t) { return true; });
  const Tensor indices = moved_sites(set, rows, [&](const std::int32_t* from, std::int32_t* to) {
    to[0] = from[0];
    for (int axis = 0; axis < set.ndim(); ++axis) {
      const std::int64_t at = from[1 + axis] * factor[axis];
      if (at >= shape[axis]) {
        throw InvalidArgument(fmt::format("[{}] coordinate {} times {} lies outside the extent {} of axis {}",
                                          kOp, from[1 + axis], factor[axis], shape[axis], axis));
      }
      to[1 + axis] = static_cast<std::int32_t>(at);
    }
  });
  const Coordinates sites = Coordinates::adopt_sorted(indices, shape, set.batch_size(), stride);
  if (set.is_sorted()) return {in.features, sites};
  return gather_sites(kOp, in, rows, sites, exec);
}

SparseTensor batch_join(std::span<const SparseTensor> parts, const ExecOptions& exec) {
  constexpr std::string_view kOp = "batch_join";
  if (parts.empty()) throw InvalidArgument("[batch_join] expected at least one part");
  std::int64_t sites = 0;
  std::int64_t batch = 0;
  for (const SparseTensor& part : parts) {
    check_sparse(kOp, part);
    check_dtype(kOp, "every part", part.features, parts[0].features.dtype(), {-1, parts[0].channels()});
    if (part.coordinates.spatial_shape() != parts[0].coordinates.spatial_shape()) {
      throw InvalidArgument(fmt::format("[{}] spatial shapes must agree, got {} and {}", kOp,
                                        parts[0].coordinates.spatial_shape().str(),
                                        part.coordinates.spatial_shape().str()));
    }
    sites += part.sites();
    batch += part.coordinates.batch_size();
  }
  const Coordinates& first = parts[0].coordinates;
  const int width = 1 + first.ndim();
  Tensor indices = Tensor::empty({sites, width}, DType::kI32);
  const Tensor features = Tensor::empty({sites, parts[0].channels()}, parts[0].features.dtype(), exec);
  OpRecord record = sites_record(kOp, parts[0]);
  record.sites_in = sites;
  record.problem += fmt::format(":parts={}", parts.size());
  std::int64_t begin = 0;
  std::int64_t item = 0;
  for (const SparseTensor& part : parts) {
    const Coordinates& set = part.coordinates;
    auto* to = indices.mutable_data<std::int32_t>() + begin * width;
    for (std::int64_t i = 0; i < set.size(); ++i, to += width) {
      std::copy_n(set.row(sorted_row(set, i)), width, to);
      to[0] += static_cast<std::int32_t>(item);
    }
    const Tensor ids = row_ids(set.size(), exec, [&set](std::int64_t i) { return sorted_row(set, i); });
    gather_into(features.slice_rows(begin, begin + set.size()), part.features, ids, exec, record);
    begin += set.size();
    item += set.batch_size();
  }
  return finish(features,
                Coordinates::adopt_sorted(indices, first.spatial_shape(), batch, first.tensor_stride()), exec,
                record);
}

std::vector<SparseTensor> batch_split(const SparseTensor& in, const ExecOptions& exec) {
  constexpr std::string_view kOp = "batch_split";
  check_sparse(kOp, in);
  const Coordinates& set = in.coordinates;
  const int width = 1 + set.ndim();
  std::vector<SparseTensor> items;
  std::int64_t begin = 0;
  for (std::int64_t item = 0; item < set.batch_size(); ++item) {
    std::vector<std::int64_t> rows;
    for (; begin < set.size() && set.row(sorted_row(set, begin))[0] == item; ++begin)
      rows.push_back(sorted_row(set, begin));
    const Tensor indices = moved_sites(set, rows, [width](const std::int32_t* from, std::int32_t* to) {
      std::copy_n(from, width, to);
      to[0] = 0;
    });
    items.push_back(
        gather_sites(kOp, in, rows,
                     Coordinates::adopt_sorted(indices, set.spatial_shape(), 1, set.tensor_stride()), exec));
  }
  return items;
}

}  // namespace aerogel
