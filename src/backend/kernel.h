// One row of a kernel table, and the exact arrays of every op. A kernel is one file and one line in its
// backend's kernels.cc; tests, benchmarks, listings and docs iterate over the rows.
//
// Contract of every row: arrays are contiguous and their shapes were checked by ops/; outputs are allocated,
// hold anything and never overlap inputs, unless an Args says otherwise; the same Args give the same bits for
// any number of threads. Features and weights are f32, f16 or bf16, one dtype for all of a call, where no
// dtype is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aerogel/conv.h"

namespace aerogel {

template <class Args>
struct Kernel {
  std::string_view name;         // <device>/<op>/<dataflow>/<types>
  std::string_view description;  // one line
  /// Empty if the row takes the problem, else the reason why not. Looks at numbers only, never at elements.
  std::string (*supports)(const Args&);
  /// Scratch bytes that run needs in Args::workspace; null = none.
  std::int64_t (*workspace_bytes)(const Args&);
  void (*run)(const Args&);
};

/// Kernel maps (not inverse: that is swap_map of the regular one). Fills every field of `out` but build_ms.
struct MapArgs {
  Coordinates in;
  KernelSpec spec;
  int threads = 0;
  KernelMap* out = nullptr;
  MemoryMeter* meter = nullptr;  // counts MemoryUse::kMapBuilding; may be null
};

/// out = epilogue(Σ_k in[map.in, :] · weight[:, k, :]ᵀ), group by group of channels. The linear table takes
/// the same with map == nullptr, K = 1.
struct SparseConvArgs {
  ConvProblem problem;
  const KernelMap* map = nullptr;
  Tensor in;          // [N_in, C_in]
  ConvWeight weight;  // [C_out, K.., C_in / groups]
  Epilogue epilogue;
  Tensor out;  // [N_out, C_out]
  int threads = 0;
  void* workspace = nullptr;
};

enum class PoolKind : std::uint8_t { kMax, kAvg, kSum };

/// Window pools over a kernel map. A site without any pair gets `identity` (max) or 0 (average, sum).
struct PoolArgs {
  PoolKind kind = PoolKind::kMax;
  float identity = 0;  // where the maximum starts; -inf or 0
  const KernelMap* map = nullptr;
  Tensor in;   // [N_in, C]
  Tensor out;  // [N_out, C]
  int threads = 0;
};

/// Pools over each batch item. An item without sites gets `identity` (max) or 0 (average, sum).
struct GlobalPoolArgs {
  PoolKind kind = PoolKind::kMax;
  float identity = 0;
  Coordinates coordinates;
  Tensor in;   // [N, C]
  Tensor out;  // [B, C]
  int threads = 0;
};

/// out = activation(in · scale + shift + residual). `out` may be `in`.
struct AffineArgs {
  Tensor in;        // [N, C]
  Tensor scale;     // [C] f32 or undefined
  Tensor shift;     // [C] f32 or undefined
  Tensor residual;  // [N, C] or undefined
  Activation activation = Activation::kNone;
  Tensor out;  // [N, C]
  int threads = 0;
  float negative_slope = 0.01f;
};

/// Mean and biased variance per channel, accumulated in double. N ≥ 1.
struct MomentsArgs {
  Tensor in;    // [N, C]
  Tensor mean;  // [C] f64
  Tensor var;   // [C] f64
  int threads = 0;
};

/// out = (in − mean) / √(variance + eps) · weight + bias with the mean and biased variance of each row, in
/// double. Not centred: the mean counts as 0, so that the variance is the mean square.
struct RowNormArgs {
  Tensor in;      // [N, C]
  Tensor weight;  // [C] f32 or undefined
  Tensor bias;    // [C] f32 or undefined
  bool centred = true;
  double eps = 0;
  Tensor out;  // [N, C]
  int threads = 0;
};

/// The same with the statistics of each batch item and group: its sites × the group's C / groups neighbouring
/// channels.
struct GroupNormArgs {
  Coordinates coordinates;
  Tensor in;                // [N, C]
  Tensor weight;            // [C] f32 or undefined
  Tensor bias;              // [C] f32 or undefined
  std::int64_t groups = 1;  // divides C
  double eps = 0;
  Tensor out;  // [N, C]
  int threads = 0;
};

/// Channels side by side, or with `ids` those of chosen rows: out[n, :] = parts[0][ids[0][n], :] | …, zeros
/// where an id is −1.
struct ConcatArgs {
  std::vector<Tensor> parts;  // each [N, C_i]; with ids [N_i, C_i]
  Tensor out;                 // [N, ΣC_i]
  int threads = 0;
  std::vector<Tensor> ids;  // empty, or per part [N] i64
};

/// The sorted union of two sets of one ndim, spatial shape and batch size, and where each row went.
struct SiteUnionArgs {
  Coordinates a;
  Coordinates b;
  Coordinates* out = nullptr;
  Tensor* rows_a = nullptr;  // [N_a] i32, allocated by the kernel
  Tensor* rows_b = nullptr;  // [N_b] i32
  int threads = 0;
};

/// out = 0; then out[rows_i[j], :] += part_i[j, :], parts in order; rows within a part are distinct.
struct ScatterAddArgs {
  std::vector<Tensor> parts;  // each [N_i, C]
  std::vector<Tensor> rows;   // each [N_i] i32
  Tensor out;                 // [N, C]
  int threads = 0;
};

/// out = zeros where no site is.
struct ToDenseArgs {
  Coordinates coordinates;
  Tensor in;  // [N, C]
  bool channels_first = true;
  Tensor out;  // [B, C, D..] or [B, D.., C]
  int threads = 0;
};

/// Sites with any nonzero (or NaN) channel, sorted.
struct FromDenseArgs {
  Tensor dense;  // [B, C, D..] or [B, D.., C]
  bool channels_first = false;
  Tensor* indices = nullptr;   // [N, 1+ndim] i32, allocated by the kernel
  Tensor* features = nullptr;  // [N, C]
  int threads = 0;
};

/// Numbers that both voxelizers share: index = floor((p − lo) / size) in f32, dropped outside 0 … grid−1.
struct GridNumbers {
  float lo[3];             // x, y, z
  float size[3];           // x, y, z
  std::int32_t extent[3];  // cells along x, y, z
};

/// Capped voxelizer, first-seen order. Outputs are allocated by the kernel.
struct VoxelizeArgs {
  Tensor points;  // [P, F] f32, finite x, y, z first
  GridNumbers grid;
  std::int64_t max_points = 0;
  std::int64_t max_voxels = 0;
  Tensor* voxel_points = nullptr;      // [N, max_points, F] f32, zero-padded
  Tensor* indices = nullptr;           // [N, 3] i32 z, y, x
  Tensor* points_per_voxel = nullptr;  // [N] i32
  Tensor* point_voxel = nullptr;       // [P] i64
  int threads = 0;
};

/// The points of each voxel reduced in point order (sums in double), rows sorted. Outputs are allocated by
/// the kernel.
struct VoxelizeReduceArgs {
  Tensor points;  // [P, F]
  GridNumbers grid;
  Tensor* features = nullptr;          // [N, F]
  Tensor* indices = nullptr;           // [N, 4] i32 0, z, y, x
  Tensor* points_per_voxel = nullptr;  // [N] i32
  Tensor* point_voxel = nullptr;       // [P] i64
  int threads = 0;
  Reduce reduce = Reduce::kMean;
};

/// out[p, :] = in[ids[p], :], zeros where ids[p] = −1.
struct GatherRowsArgs {
  Tensor in;   // [N, C]
  Tensor ids;  // [P] i64
  Tensor out;  // [P, C]
  int threads = 0;
};

/// out[p, :] = Σ w · in[corner, :] / Σ w over the sites among the eight whose centres surround point p, with
/// trilinear weights w > 0; zeros where there is none. u = (p − lo) / size − 0.5 in f32, the lower corner is
/// floor(u).
struct TrilinearArgs {
  Coordinates coordinates;  // batch size 1, columns z, y, x
  Tensor in;                // [N, C]
  Tensor points;            // [P, F] f32, finite x, y, z first
  GridNumbers grid;
  Tensor out;  // [P, C]
  int threads = 0;
};

/// A backend's rows, one table per op, each in order of preference. An empty table: the op is not there.
struct KernelTables {
  std::span<const Kernel<MapArgs>> build_kernel_map;
  std::span<const Kernel<SparseConvArgs>> sparse_conv;
  std::span<const Kernel<SparseConvArgs>> linear;
  std::span<const Kernel<PoolArgs>> pool;
  std::span<const Kernel<GlobalPoolArgs>> global_pool;
  std::span<const Kernel<AffineArgs>> affine;
  std::span<const Kernel<MomentsArgs>> moments;
  std::span<const Kernel<RowNormArgs>> row_norm;
  std::span<const Kernel<GroupNormArgs>> group_norm;
  std::span<const Kernel<ConcatArgs>> concat;
  std::span<const Kernel<SiteUnionArgs>> site_union;
  std::span<const Kernel<ScatterAddArgs>> scatter_add;
  std::span<const Kernel<ToDenseArgs>> to_dense;
  std::span<const Kernel<FromDenseArgs>> from_dense;
  std::span<const Kernel<VoxelizeArgs>> voxelize;
  std::span<const Kernel<VoxelizeReduceArgs>> voxelize_reduce;
  std::span<const Kernel<GatherRowsArgs>> gather_rows;
  std::span<const Kernel<TrilinearArgs>> trilinear;

  /// Calls visit(op name, table) for each table.
  template <class Visit>
  void for_each(Visit&& visit) const {
    visit("build_kernel_map", build_kernel_map);
    visit("sparse_conv", sparse_conv);
    visit("linear", linear);
    visit("pool", pool);
    visit("global_pool", global_pool);
    visit("affine", affine);
    visit("moments", moments);
    visit("row_norm", row_norm);
    visit("group_norm", group_norm);
    visit("concat", concat);
    visit("site_union", site_union);
    visit("scatter_add", scatter_add);
    visit("to_dense", to_dense);
    visit("from_dense", from_dense);
    visit("voxelize", voxelize);
    visit("voxelize_reduce", voxelize_reduce);
    visit("gather_rows", gather_rows);
    visit("trilinear", trilinear);
  }
};

/// For rows that take everything their op allows.
template <class Args>
std::string supports_all(const Args&) {
  return {};
}

namespace reference {
const KernelTables& kernels();
}
namespace cpu {
const KernelTables& kernels();
}
namespace absent {
/// Empty tables, and why: "not built".
const KernelTables& kernels();
std::string_view reason(Backend backend) noexcept;
}  // namespace absent

}  // namespace aerogel
