// cpu/sparse_conv/implicit_gemm/f32
//
//   out[o, :] = epilogue( Σ_k  in[i, :] · weight[:, k, :]ᵀ )     over pairs (i, o) in map[k]
//
//   in [N_in, C_in]   weight [C_out, K.., C_in] as packed panels   out [N_out, C_out]
//
// Output-stationary: a tile of output rows is kept in a cached accumulator. Pair lists are sorted by output
// row, so the pairs of one kernel offset that fall into a tile stand side by side; absent neighbours cost
// nothing. Each such segment is a small matrix product that gathers its rows by index (gemm_tile-inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/sparse_conv_implicit_gemm.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>
#include <string>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/conv_kernels.h"
#include "backend/cpu/gemm_tile-inl.h"
#include "backend/cpu/tile_epilogue-inl.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target

constexpr std::int64_t kTilesPerChunk = 8;  // neighbouring tiles find their segments by advancing cursors

/// The first of the ascending rows [begin, end) that is not below `limit`; near `begin`.
std::int64_t segment_end(const std::int32_t* rows, std::int64_t begin, std::int64_t end, std::int32_t limit) {
  const hn::ScalableTag<std::int32_t> d;
  const auto bound = hn::Set(d, limit);
  for (; begin + kLanes <= end; begin += kLanes) {
    const auto below = hn::Lt(hn::LoadU(d, rows + begin), bound);
    if (!hn::AllTrue(d, below)) return begin + static_cast<std::int64_t>(hn::CountTrue(d, below));
  }
  while (begin < end && rows[begin] < limit) ++begin;
  return begin;
}

std::int64_t sparse_scratch_bytes(const SparseConvArgs& args) {
  const std::int64_t columns = padded_columns(args.problem.c_out);
  const std::int64_t slots = resolve_threads(args.threads);
  const std::int64_t cursors = slots * args.problem.spec.volume() * static_cast<std::int64_t>(sizeof(std::int64_t));
  return scratch_bytes(tile_rows(args.problem.n_out, columns), columns, slots, cursors);
}

void run_sparse(const SparseConvArgs& args) {
  const std::int64_t c_out = args.weight.c_out();
  const std::int64_t c_in = args.weight.c_in();
  const std::int64_t volume = args.weight.volume();
  const std::int64_t n_out = args.out.size(0);
  const std::int64_t columns = padded_columns(c_out);
  const std::int64_t rows = tile_rows(n_out, columns);
  const std::int64_t slots = resolve_threads(args.threads);
  const std::int64_t* offset_begin = args.map->offset_begin.data<std::int64_t>();
  const std::int32_t* out_rows = args.map->out_rows.data<std::int32_t>();
  const Tensor packed = packed_panels(args.weight);
  const float* weight = packed.data<float>();
  float* out = args.out.mutable_data<float>();

  float* scratch = aligned<float>(args.workspace);
  const TileEpilogue epilogue = pad_epilogue(args.epilogue, c_out, columns, scratch);
  float* tiles = scratch + 3 * columns;
  auto* all_cursors = aligned<std::int64_t>(tiles + slots * rows * columns);

  parallel_chunks(
      n_out, rows * kTilesPerChunk, args.threads, [&](std::int64_t begin, std::int64_t end, int slot) {
        std::int64_t* cursor = all_cursors + slot * volume;
        for (std::int64_t k = 0; k < volume; ++k) {
          cursor[k] =
              std::lower_bound(out_rows + offset_begin[k], out_rows + offset_begin[k + 1], begin) - out_rows;
        }
        Tile tile{args.in.data<float>(),
                  args.map->in_rows.data<std::int32_t>(),
                  out_rows,
                  tiles + slot * rows * columns,
                  c_in,
                  columns,
                  begin};
        for (; tile.first_row < end; tile.first_row += rows) {
          const std::int64_t tile_end = std::min(end, tile.first_row + rows);
          start_tile(epilogue, tile_end - tile.first_row, columns, tile.acc);
          for (std::int64_t k = 0; k < volume; ++k) {
            const std::int64_t stop =
                segment_end(out_rows, cursor[k], offset_begin[k + 1], static_cast<std::int32_t>(tile_end));
            add_segment(tile, cursor[k], stop, weight + k * c_in * columns);
            cursor[k] = stop;
          }
          finish_tile(epilogue, tile.acc, tile_end - tile.first_row, columns, c_out, tile.first_row, out);
        }
      });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(sparse_scratch_bytes);
HWY_EXPORT(run_sparse);

std::string supports(const SparseConvArgs& args) {
  if (args.problem.dtype != DType::kF32)
    return std::string("takes f32, not ") + std::string(dtype_name(args.problem.dtype));
  return {};
}

std::int64_t workspace_bytes(const SparseConvArgs& args) {
  return HWY_DYNAMIC_DISPATCH(sparse_scratch_bytes)(args);
}
void run(const SparseConvArgs& args) { HWY_DYNAMIC_DISPATCH(run_sparse)(args); }

}  // namespace

constinit const Kernel<SparseConvArgs> kSparseConvImplicitGemm = {
    "cpu/sparse_conv/implicit_gemm/f32", "output tiles in cache, absent neighbours compacted away", supports,
    workspace_bytes, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
