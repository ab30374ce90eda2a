// cpu/sparse_conv/depthwise/float and cpu/linear/depthwise/float
//
//   out[o, c] = epilogue( Σ_k  in[i, c] · weight[c, k] )     over pairs (i, o) in map[k]
//
//   in [N_in, C]   weight [C, K.., 1] as [K, C] padded to whole vectors   out [N_out, C]
//
// Groups of one channel each: a pair is one multiply-add per channel, so nothing is broadcast and nothing is
// summed across lanes. Output-stationary: a tile of accumulators stays cached while the offsets pass; lists
// are sorted by output row, so a tile's share of an offset is found by binary search. Bound by the input rows
// that pairs fetch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/sparse_conv_depthwise.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>
#include <string>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/conv_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "backend/cpu/tile_epilogue-inl.h"
#include "core/feature_types.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target

constexpr std::int64_t kPairsAhead = 8;  // between the prefetch of an input row and its use

/// weight [C, K] → [K, columns], zero-padded.
Tensor packed_taps(const ConvWeight& weight) {
  const std::string layout = "cpu/taps/f32/" + std::to_string(kLanes);
  return weight.packed(layout, [&](const Tensor& given) {
    const Tensor canonical = given.to(DType::kF32);
    const std::int64_t channels = weight.c_out();
    const std::int64_t volume = weight.volume();
    const std::int64_t columns = padded_columns(channels);
    Tensor packed = Tensor::zeros({volume, columns}, DType::kF32);
    for (std::int64_t k = 0; k < volume; ++k) {
      for (std::int64_t c = 0; c < channels; ++c)
        packed.mutable_data<float>()[k * columns + c] = canonical.data<float>()[c * volume + k];
    }
    return packed;
  });
}

/// acc[c] += in[c] · weight[c]
template <class T>
HWY_INLINE void add_products(const T* in, const float* weight, std::int64_t channels, float* acc) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    hn::StoreU(hn::MulAdd(load_f32(d, in + c), hn::LoadU(d, weight + c), hn::LoadU(d, acc + c)), d, acc + c);
  });
}

/// The raw pointers of a run.
template <class T>
struct Taps {
  std::int64_t channels, columns;
  const KernelMap* map;  // null: every row feeds itself
  const T* in;           // [N_in, C]
  const float* weight;   // [K, columns]
};

/// Adds the products of output rows [begin, end) to acc [end − begin, columns].
template <class T>
void add_tile(const Taps<T>& taps, std::int64_t begin, std::int64_t end, float* acc) {
  if (taps.map == nullptr) {
    for (std::int64_t row = begin; row < end; ++row) {
      add_products(taps.in + row * taps.channels, taps.weight, taps.channels,
                   acc + (row - begin) * taps.columns);
    }
    return;
  }
  const KernelMap& map = *taps.map;
  const auto* offset_begin = map.offset_begin.data<std::int64_t>();
  const auto* in_rows = map.in_rows.data<std::int32_t>();
  const auto* out_rows = map.out_rows.data<std::int32_t>();
  for (std::int64_t k = 0; k + 1 < map.offset_begin.numel(); ++k) {
    const std::int32_t* stop = out_rows + offset_begin[k + 1];
    const std::int32_t* first = std::lower_bound(out_rows + offset_begin[k], stop, begin);
    const std::int64_t last = std::lower_bound(first, stop, end) - out_rows;
    for (std::int64_t p = first - out_rows; p < last; ++p) {
      hwy::Prefetch(taps.in + in_rows[std::min(p + kPairsAhead, last - 1)] * taps.channels);
      add_products(taps.in + in_rows[p] * taps.channels, taps.weight + k * taps.columns, taps.channels,
                   acc + (out_rows[p] - begin) * taps.columns);
    }
  }
}

std::int64_t depthwise_scratch_bytes(const SparseConvArgs& args) {
  const std::int64_t columns = padded_columns(args.problem.c_out);
  return scratch_bytes(tile_rows(args.problem.n_out, columns), columns, resolve_threads(args.threads), 0);
}

template <class T>
void run_depthwise_of(const SparseConvArgs& args) {
  const Grouped channels(1, args.problem.c_out,
                         args.problem.c_out);  // of the tile: side by side, as in one group
  const std::int64_t rows = tile_rows(args.problem.n_out, channels.row());
  const Tensor packed = packed_taps(args.weight);
  const Taps<T> taps{channels.c_out, channels.columns, args.map, args.in.data<T>(), packed.data<float>()};
  T* out = args.out.mutable_data<T>();
  float* scratch = aligned<float>(args.workspace);
  const TileEpilogue<T> epilogue = pad_epilogue<T>(args.epilogue, channels, scratch);
  float* tiles = scratch + 3 * channels.row();
  parallel_chunks(args.problem.n_out, rows, args.threads,
                  [&](std::int64_t begin, std::int64_t end, int slot) {
                    float* acc = tiles + slot * rows * channels.row();
                    start_tile(epilogue.bias, end - begin, channels.row(), acc);
                    add_tile(taps, begin, end, acc);
                    finish_tile(epilogue, acc, end - begin, channels, begin, out);
                  });
}

void run_depthwise(const SparseConvArgs& args) {
  with_feature_type(args.problem.dtype, [&]<class T>(T) { run_depthwise_of<T>(args); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(depthwise_scratch_bytes);
HWY_EXPORT(run_depthwise);

std::string supports(const SparseConvArgs& args) {
  const ConvProblem& problem = args.problem;
  if (!is_feature_dtype(problem.dtype)) return takes_dtype(problem, DType::kF32);
  if (problem.groups != problem.c_in || problem.groups != problem.c_out)
    return "takes groups of one input and one output channel only";
  return {};
}

std::int64_t workspace_bytes(const SparseConvArgs& args) {
  return HWY_DYNAMIC_DISPATCH(depthwise_scratch_bytes)(args);
}
void run(const SparseConvArgs& args) { HWY_DYNAMIC_DISPATCH(run_depthwise)(args); }

}  // namespace

constinit const Kernel<SparseConvArgs> kSparseConvDepthwise = {
    "cpu/sparse_conv/depthwise/float", "a multiply-add per pair and channel, output tiles in cache", supports,
    workspace_bytes, run};
constinit const Kernel<SparseConvArgs> kLinearDepthwise = {
    "cpu/linear/depthwise/float", "a multiply-add per element", supports, workspace_bytes, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
