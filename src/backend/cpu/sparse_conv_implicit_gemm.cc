// cpu/sparse_conv/implicit_gemm/f32, …/f16 and …/bf16
//
//   out[o, :] = epilogue( Σ_k  in[i, :] · weight[:, k, :]ᵀ )     over pairs (i, o) in map[k]
//
//   in [N_in, C_in]   weight [C_out, K.., C_in / groups] as packed panels   out [N_out, C_out]
//
// Groups of channels are multiplied one after another within a tile and kernel offset, from the same list of
// rows: in[i, group] · weight[group, k, :]ᵀ.
//
// Output-stationary: a tile of output rows is kept in a cached accumulator. Pair lists are sorted by output
// row, so the pairs of one kernel offset that fall into a tile stand side by side; absent neighbours cost
// nothing. Each such segment is a small matrix product that gathers its rows by index (gemm_tile-inl.h). Pair
// lists, input rows and output rows are prefetched well before their use; bias and epilogue work on the
// cached tile.
//
// Source: the implicit GEMM of TorchSparse++ (Tang et al. 2023, arXiv:2311.12862), with compaction of absent
// neighbours in place of mask sorting.
//
// Measured 2026-12-01 on an Intel(R) Xeon(R) Processor (family 6, model 207: two 512-bit multiply-add units,
// 2 MB L2), one thread, shared machine under load. Share of the multiply-add peak (173 to 192 GFLOP/s
// AVX-512, 86 to 93 AVX2) on the real pairs of a 3×3×3 submanifold layer in slices of 0.3 to 1 ms, buffers
// rotated, kept where a multiply-add loop before and after reached 95 % of peak and no involuntary switch
// hit; C = C_in = C_out:
//
//                             C = 16   32   64  128
//   lidar:0    AVX-512           47   59   74   70 %
//   shell:128  AVX-512           53   66   78   72 %
//   lidar:0    AVX2              65   74   75   80 %
//   shell:128  AVX2              69   80   78   79 %
//   microkernel alone, AVX-512   79   85   95   94 %     154 pairs per segment, rows in the L2 cache
//
// What lies between the last row and the others is waiting for rows, weights and pair lists: that machine
// read 24 GB/s from its L3 cache and 7 GB/s from memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/sparse_conv_implicit_gemm.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/conv_kernels.h"
#include "backend/cpu/gemm_tile-inl.h"
#include "backend/cpu/grouped_segment-inl.h"
#include "backend/cpu/tile_epilogue-inl.h"
#include "core/feature_types.h"
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

/// Asks for `bytes` at `p`, to be used some microseconds later: into the L2 cache.
inline void prefetch_later(const void* p, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(p) + i, 0, 2);
}

/// Memory that is asked for in shares, a share per kernel offset, so that requests never queue up.
template <class T>
struct Upcoming {
  const T* begin;
  std::int64_t elements;
  std::int64_t asked = 0;

  void ask(std::int64_t k, std::int64_t volume) {
    const std::int64_t until = elements * (k + 1) / volume;
    prefetch_later(begin + asked, (until - asked) * static_cast<std::int64_t>(sizeof(T)));
    asked = until;
  }
};

/// The pair lists of a run and the sizes they are read with.
struct PairLists {
  Grouped grouped;
  std::int64_t c_in, volume;         // C_in of all groups
  std::int64_t rows;                 // of a tile
  const std::int64_t* offset_begin;  // [K+1]
  const std::int32_t* in_rows;       // [pairs]
  const std::int32_t* out_rows;      // [pairs]
};

/// The raw pointers of a run.
template <class T>
struct Operands : PairLists {
  const T* in;          // [N_in, C_in]
  const float* weight;  // packed_panels
  T* out;               // [N_out, C_out]
};

/// One thread's walk over the segments of neighbouring tiles. A segment's offsets are listed while the one
/// before it is still to be multiplied, so that rows can be prefetched across the border between them.
class SegmentReader {
 public:
  struct Listed {
    std::int64_t* in_offset = nullptr;   // [rows + kAhead]
    std::int64_t* acc_offset = nullptr;  // [rows + kAhead]
    std::int64_t pairs = 0;
    std::int64_t k = 0;  // the kernel offset

    Segment segment() const { return {in_offset, acc_offset, pairs}; }
  };

  static std::int64_t integers(std::int64_t rows, std::int64_t volume) {
    return volume + 4 * (rows + kAhead);
  }

  SegmentReader(const PairLists& operands, std::int64_t first_row, std::int64_t* scratch)
      : operands_(operands), cursor_(scratch) {
    const std::int32_t* rows = operands.out_rows;
    for (std::int64_t k = 0; k < operands.volume; ++k) {
      const std::int32_t* end = rows + operands.offset_begin[k + 1];
      cursor_[k] = std::lower_bound(rows + operands.offset_begin[k], end, first_row) - rows;
    }
    const std::int64_t length = operands.rows + kAhead;
    std::int64_t* lists = scratch + operands.volume;
    std::fill_n(lists, 4 * length, 0);  // what is behind a list is prefetched
    listed_ = {lists, lists + length};
    ahead_ = {lists + 2 * length, lists + 3 * length};
  }

  void start(std::int64_t tile, std::int64_t tile_end) {
    tile_ = static_cast<std::int32_t>(tile);
    tile_end_ = static_cast<std::int32_t>(tile_end);
    k_ = 0;
    list(ahead_);
  }

  /// The next segment with any pair; one without pairs at the end of the tile.
  const Listed& next() {
    std::swap(listed_, ahead_);
    if (listed_.pairs == 0) return listed_;
    list(ahead_);
    const Listed& after = ahead_.pairs > 0 ? ahead_ : listed_;
    std::memmove(listed_.in_offset + listed_.pairs, after.in_offset, kAhead * sizeof(std::int64_t));
    std::memmove(listed_.acc_offset + listed_.pairs, after.acc_offset, kAhead * sizeof(std::int64_t));
    return listed_;
  }

 private:
  /// Lists the next kernel offset with any pair in this tile.
  void list(Listed& to) {
    const PairLists& o = operands_;
    to.pairs = 0;
    for (; to.pairs == 0 && k_ < o.volume; ++k_) {
      const std::int64_t first = cursor_[k_];
      const std::int64_t end = o.offset_begin[k_ + 1];
      const std::int64_t last = segment_end(o.out_rows, first, end, tile_end_);
      to.pairs = last - first;
      to.k = k_;
      if (to.pairs == 0) continue;
      cursor_[k_] = last;
      row_offsets(o.in_rows + first, to.pairs, 0, o.c_in, to.in_offset);
      row_offsets(o.out_rows + first, to.pairs, tile_, o.grouped.row(), to.acc_offset);
      const std::int64_t bytes =
          std::min(to.pairs, end - last) * static_cast<std::int64_t>(sizeof(std::int32_t));
      prefetch_later(o.out_rows + last, bytes);  // the next tile's part of both lists is about as long
      prefetch_later(o.in_rows + last, bytes);
    }
  }

  const PairLists& operands_;
  std::int64_t* cursor_;  // [K] first pair not yet listed
  Listed listed_;         // handed out
  Listed ahead_;          // the one after it
  std::int64_t k_ = 0;    // the kernel offset to be listed next
  std::int32_t tile_ = 0;
  std::int32_t tile_end_ = 0;
};

/// The output rows [begin, end), tile by tile.
template <class T>
void run_tiles(const Operands<T>& o, const TileEpilogue<T>& epilogue, std::int64_t begin, std::int64_t end,
               float* acc, std::int64_t* integers, const RowStage<T>& stage) {
  SegmentReader reader(o, begin, integers);
  for (std::int64_t tile = begin; tile < end; tile += o.rows) {
    const std::int64_t count = std::min(o.rows, end - tile);
    start_tile(epilogue.bias, count, o.grouped.row(), acc);
    reader.start(tile, tile + count);
    Upcoming<T> out{o.out + tile * o.grouped.all_out(), count * o.grouped.all_out()};
    for (const auto* listed = &reader.next(); listed->pairs > 0; listed = &reader.next()) {
      out.ask(listed->k, o.volume);
      add_groups(o.grouped, listed->segment(), o.in,
                 o.weight + listed->k * o.grouped.groups * o.grouped.weights(), acc, stage);
    }
    finish_tile(epilogue, acc, count, o.grouped, tile, o.out);
  }
}

std::int64_t sparse_scratch_bytes(const SparseConvArgs& args) {
  const Grouped grouped(args.problem.groups, args.problem.c_in, args.problem.c_out);
  const std::int64_t rows = tile_rows(args.problem.n_out, grouped.row());
  const std::int64_t slots = resolve_threads(args.threads);
  const std::int64_t stage = with_feature_type(
      args.problem.dtype, [&]<class T>(T) { return RowStage<T>::bytes(args.problem.c_in); });
  return scratch_bytes(rows, grouped.row(), slots,
                       slots * SegmentReader::integers(rows, args.problem.spec.volume()) *
                               static_cast<std::int64_t>(sizeof(std::int64_t)) +
                           slots * stage + static_cast<std::int64_t>(kScratchAlignment));
}

template <class T>
void run_sparse_of(const SparseConvArgs& args) {
  const std::int64_t n_out = args.out.size(0);
  const Grouped grouped(args.problem.groups, args.problem.c_in, args.problem.c_out);
  const std::int64_t rows = tile_rows(n_out, grouped.row());
  const std::int64_t slots = resolve_threads(args.threads);
  const Tensor packed = packed_panels(args.weight, grouped);
  const Operands<T> o{
      {grouped, args.problem.c_in, args.weight.volume(), rows, args.map->offset_begin.data<std::int64_t>(),
       args.map->in_rows.data<std::int32_t>(), args.map->out_rows.data<std::int32_t>()},
      args.in.data<T>(),
      packed.data<float>(),
      args.out.mutable_data<T>()};
  float* scratch = aligned<float>(args.workspace);
  const TileEpilogue<T> epilogue = pad_epilogue<T>(args.epilogue, grouped, scratch);
  float* tiles = scratch + 3 * grouped.row();
  auto* integers = aligned<std::int64_t>(tiles + slots * rows * grouped.row());
  char* stages = aligned<char>(integers + slots * SegmentReader::integers(rows, o.volume));

  parallel_chunks(n_out, rows * kTilesPerChunk, args.threads,
                  [&](std::int64_t begin, std::int64_t end, int slot) {
                    run_tiles(o, epilogue, begin, end, tiles + slot * rows * grouped.row(),
                              integers + slot * SegmentReader::integers(rows, o.volume),
                              RowStage<T>(o.c_in, stages + slot * RowStage<T>::bytes(o.c_in)));
                  });
}

void run_sparse(const SparseConvArgs& args) {
  with_feature_type(args.problem.dtype, [&]<class T>(T) { run_sparse_of<T>(args); });
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

template <DType kFeatures>
std::string supports(const SparseConvArgs& args) {
  return takes_dtype(args.problem, kFeatures);
}

std::int64_t workspace_bytes(const SparseConvArgs& args) {
  return HWY_DYNAMIC_DISPATCH(sparse_scratch_bytes)(args);
}
void run(const SparseConvArgs& args) { HWY_DYNAMIC_DISPATCH(run_sparse)(args); }

}  // namespace

constinit const Kernel<SparseConvArgs> kSparseConvImplicitGemm = {
    "cpu/sparse_conv/implicit_gemm/f32", "output tiles in cache, absent neighbours compacted away",
    supports<DType::kF32>, workspace_bytes, run};
constinit const Kernel<SparseConvArgs> kSparseConvImplicitGemmF16 = {
    "cpu/sparse_conv/implicit_gemm/f16", "as f32, rows widened part by part", supports<DType::kF16>,
    workspace_bytes, run};
constinit const Kernel<SparseConvArgs> kSparseConvImplicitGemmBf16 = {
    "cpu/sparse_conv/implicit_gemm/bf16", "as f32, rows widened part by part", supports<DType::kBF16>,
    workspace_bytes, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
