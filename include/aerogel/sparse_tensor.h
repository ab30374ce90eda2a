// Coordinate sets and sparse tensors. A coordinate set is immutable and owns the kernel maps built on it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "aerogel/tensor.h"

namespace aerogel {

/// Counts of kernel maps on one coordinate set.
struct MapStats {
  std::int64_t builds = 0;  ///< maps that were computed
  std::int64_t reuses = 0;  ///< look-ups that found one
};

/// An immutable set of N sites: int32 rows (batch, then the spatial columns in the order of spatial_shape),
/// no two alike. Copies share one set; equality is identity. Safe to use from many threads.
class Coordinates {
 public:
  Coordinates() = default;  ///< undefined

  /// Takes rows as they are, in any order, and keeps that order.
  ///
  ///   indices        [N, 1+ndim]  i32    batch, then spatial columns; ndim = 1 … 4; N < 2^31
  ///   spatial_shape  ndim         cells  every coordinate lies in [0, extent); batch_size times all extents
  ///                                      is below 2^63
  ///   batch_size     ≥ 0                 every batch index lies in [0, batch_size)
  ///   throws   InvalidArgument   dtype or shape, a coordinate out of range (names the first bad row), two
  ///   equal
  ///                              rows (names both)
  ///   cost     O(N) if the rows are already sorted, else one sort
  static Coordinates create(const Tensor& indices, const Dims& spatial_shape, std::int64_t batch_size);

  /// As create, for rows known to be sorted, in range and distinct. For kernels that made them so; not
  /// checked.
  static Coordinates adopt_sorted(const Tensor& indices, const Dims& spatial_shape, std::int64_t batch_size,
                                  const Dims& tensor_stride);

  bool defined() const noexcept { return impl_ != nullptr; }
  std::int64_t size() const noexcept;  ///< N
  int ndim() const noexcept;
  std::int64_t batch_size() const noexcept;
  const Dims& spatial_shape() const noexcept;
  const Dims& tensor_stride() const noexcept;  ///< distance of neighbouring sites in input voxels; 1 at first
  const Tensor& indices() const noexcept;      ///< [N, 1+ndim] i32, row order as given
  const std::int32_t* row(std::int64_t site) const noexcept;  ///< [1+ndim]

  /// Rows in (batch, columns left to right) order; empty when the set is already sorted.
  std::span<const std::int32_t> sorted_order() const noexcept;
  bool is_sorted() const noexcept { return sorted_order().empty(); }

  /// A number no other set of this process has.
  std::uint64_t id() const noexcept;
  bool operator==(const Coordinates& other) const noexcept { return impl_ == other.impl_; }

  /// How often maps were built and found again on this set.
  MapStats map_stats() const;

  /// Where kernel_map/ keeps the maps of this set; created on first use by kernel_map/map_cache.cc.
  std::shared_ptr<void>& map_slot() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// What to do with equal rows when a sparse tensor is made from raw rows.
enum class Duplicates : std::uint8_t { kError, kFirst, kSum, kMean, kMax };

/// Features on sites: row i of `features` belongs to site i of `coordinates`.
struct SparseTensor {
  Tensor features;          ///< [N, C] f32, f16, bf16, or i8 for convolutions
  Coordinates coordinates;  ///< N sites

  /// Checks that rows and sites agree and joins equal rows as asked (the first of them keeps its place).
  ///
  ///   features       [N, C]       f32, f16, bf16 or i8 (whose equal rows are an error always)
  ///   indices        [N, 1+ndim]  i32
  ///   throws   InvalidArgument   as Coordinates::create; feature rows that are not N; dtype
  static SparseTensor create(const Tensor& features, const Tensor& indices, const Dims& spatial_shape,
                             std::int64_t batch_size, Duplicates duplicates = Duplicates::kError);

  /// The same sites with other features [N, C']; InvalidArgument if the rows disagree.
  SparseTensor with_features(const Tensor& other) const;

  std::int64_t sites() const noexcept { return coordinates.size(); }
  std::int64_t channels() const noexcept { return features.size(1); }
};

}  // namespace aerogel
