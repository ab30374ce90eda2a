// cpu/sparse_conv/implicit_gemm/i8 and cpu/linear/packed_gemm/i8
//
//   acc[o, :] = Σ_k in[i, :] · weight[:, k, :]ᵀ in i32, over pairs (i, o) in map[k]
//   out[o, :] = activation((acc[o, :] · in_scale · weight_scale + bias) · scale + shift + residual[o, :])
//
//   in [N_in, C_in] i8   weight [C_out, K.., C_in / groups] i8 as i16 pairs   out [N_out, C_out] f32, or i8:
//   round(out / out_scale), half to even, saturated
//
// Output-stationary, as the f32 row: a tile of i32 accumulators stays cached while the offsets pass; lists
// are sorted by output row, so a tile's share of an offset is found by binary search. Rows are gathered into
// a stage of i16, some at a time, and neighbouring channels meet the weights in one multiply-and-add-pairs
// instruction, whose products and sums are exact.
//
// Measured as in grouped_segment-inl.h: 3.3 times f32's time at C_in = C_out = 16, 1.2 times at 64. The gain
// is in memory, not yet in time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/sparse_conv_implicit_gemm_i8.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/conv_kernels.h"
#include "backend/cpu/tile_epilogue-inl.h"
#include "core/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target

constexpr int kMostRows = 4;             // of a register block
constexpr int kMostVectors = 2;          // of a register block
constexpr std::int64_t kStaged = 16384;  // i16 of the stage: 32 KiB
constexpr std::int64_t kRowsAhead = 8;   // between the prefetch of a row and its use

/// The raw pointers of a run. A step is a pair of neighbouring input channels of a group.
struct Operands {
  Grouped grouped;
  const KernelMap* map;  // null: every row feeds itself
  std::int64_t steps;    // of a group: half of its channels, rounded up
  const std::int8_t* in;
  const std::int16_t* weight;  // packed_pairs

  std::int64_t all_in() const { return grouped.groups * grouped.c_in; }
  std::int64_t staged_row() const { return grouped.groups * steps * 2; }
  std::int64_t staged_rows() const { return std::clamp<std::int64_t>(kStaged / staged_row(), 8, 256); }
  std::int64_t group_weights() const { return steps * 2 * grouped.columns; }
};

/// weight [C_out, K, C_in of a group] → [K, group, vector of columns, step, lane, 2] i16, zero-padded.
Tensor packed_pairs(const ConvWeight& weight, const Grouped& grouped) {
  const std::string layout = "cpu/pairs/i8/" + std::to_string(kLanes) + "/" + std::to_string(grouped.groups);
  return weight.packed(layout, [&](const Tensor& canonical) {
    const std::int64_t volume = weight.volume();
    const std::int64_t steps = (grouped.c_in + 1) / 2;
    Tensor packed = Tensor::empty({volume, grouped.groups, grouped.columns, steps * 2}, DType::kI16);
    auto* to = packed.mutable_data<std::int16_t>();
    const auto* from = canonical.data<std::int8_t>();
    for (std::int64_t place = 0; place < volume * grouped.groups; ++place) {
      const std::int64_t k = place / grouped.groups;
      const std::int64_t first = place % grouped.groups * grouped.c_out;
      for (std::int64_t vector = 0; vector < grouped.columns; vector += kLanes) {
        for (std::int64_t step = 0; step < steps; ++step) {
          for (std::int64_t i = 0; i < 2 * kLanes; ++i) {
            const std::int64_t co = vector + i / 2;
            const std::int64_t ci = 2 * step + i % 2;
            const bool inside = co < grouped.c_out && ci < grouped.c_in;
            *to++ = inside ? from[((first + co) * volume + k) * grouped.c_in + ci] : std::int16_t{0};
          }
        }
      }
    }
    return packed;
  });
}

/// acc[r][v] += Σ_step x[r][step] · w[v][step] for MR rows and NV vectors of columns.
template <int MR, int NV>
HWY_INLINE void add_block(const std::int16_t* const* x, const std::int16_t* w, std::int64_t steps,
                          std::int32_t* const* acc) {
#if HWY_TARGET == HWY_SCALAR
  for (int r = 0; r < MR; ++r) {
    for (int v = 0; v < NV; ++v) {
      for (std::int64_t i = 0; i < 2 * steps; ++i) acc[r][v] += std::int32_t{x[r][i]} * w[v * steps * 2 + i];
    }
  }
#else
  const hn::ScalableTag<std::int32_t> d;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  hn::Vec<decltype(d)> sum[MR][NV];
  hn::Vec<decltype(d)> more[MR][NV];  // what NEON's widening multiply needs beside it; unused elsewhere
  AEROGEL_UNROLL
  for (int r = 0; r < MR; ++r) {
    AEROGEL_UNROLL
    for (int v = 0; v < NV; ++v) sum[r][v] = more[r][v] = hn::Zero(d);
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    hn::Vec<decltype(d16)> weight[NV];
    AEROGEL_UNROLL
    for (int v = 0; v < NV; ++v) weight[v] = hn::Load(d16, w + (v * steps + step) * 2 * kLanes);
    AEROGEL_UNROLL
    for (int r = 0; r < MR; ++r) {
      std::int32_t pair = 0;
      std::memcpy(&pair, x[r] + 2 * step, sizeof(pair));
      const auto value = hn::BitCast(d16, hn::Set(d, pair));
      AEROGEL_UNROLL
      for (int v = 0; v < NV; ++v) {
        sum[r][v] = hn::ReorderWidenMulAccumulate(d, value, weight[v], sum[r][v], more[r][v]);
      }
    }
  }
  AEROGEL_UNROLL
  for (int r = 0; r < MR; ++r) {
    AEROGEL_UNROLL
    for (int v = 0; v < NV; ++v) {
      std::int32_t* to = acc[r] + v * kLanes;
      hn::Store(hn::Add(hn::Load(d, to), hn::RearrangeToOddPlusEven(sum[r][v], more[r][v])), d, to);
    }
  }
#endif
}

template <int MR>
HWY_NOINLINE void add_rows(const Operands& o, const std::int16_t* const* x, const std::int16_t* weight,
                           std::int32_t* const* acc) {
  for (std::int64_t g = 0; g < o.grouped.groups; ++g) {
    const std::int16_t* rows[MR];
    for (int r = 0; r < MR; ++r) rows[r] = x[r] + g * o.steps * 2;
    const std::int64_t vectors = o.grouped.columns / kLanes;
    for (std::int64_t v = 0; v < vectors; v += kMostVectors) {
      std::int32_t* to[MR];
      for (int r = 0; r < MR; ++r) to[r] = acc[r] + g * o.grouped.columns + v * kLanes;
      const std::int16_t* w = weight + g * o.group_weights() + v * o.steps * 2 * kLanes;
      v + 1 < vectors ? add_block<MR, 2>(rows, w, o.steps, to) : add_block<MR, 1>(rows, w, o.steps, to);
    }
  }
}

/// One input row as i16, the channels of each group padded to whole steps.
HWY_INLINE void stage_row(const Operands& o, const std::int8_t* from, std::int16_t* to) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::Rebind<std::int8_t, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t g = 0; g < o.grouped.groups; ++g, from += o.grouped.c_in, to += o.steps * 2) {
    std::int64_t c = 0;
    for (; c + lanes <= o.grouped.c_in; c += lanes)
      hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, from + c)), d, to + c);
    for (; c < o.grouped.c_in; ++c) to[c] = from[c];
    if (c < o.steps * 2) to[c] = 0;
  }
}

/// Adds pairs (in_rows[p], out_rows[p] − first) of kernel offset k, or rows first + p of a linear layer.
void add_pairs(const Operands& o, std::int64_t k, const std::int32_t* in_rows, const std::int32_t* out_rows,
               std::int64_t pairs, std::int64_t first, std::int32_t* acc, std::int16_t* stage) {
  const std::int16_t* weight = o.weight + k * o.grouped.groups * o.group_weights();
  const auto row_of = [&](std::int64_t p) {
    return in_rows != nullptr ? std::int64_t{in_rows[p]} : first + p;
  };
  for (std::int64_t begin = 0; begin < pairs; begin += o.staged_rows()) {
    const std::int64_t count = std::min(o.staged_rows(), pairs - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      hwy::Prefetch(o.in + row_of(std::min(begin + i + kRowsAhead, pairs - 1)) * o.all_in());
      stage_row(o, o.in + row_of(begin + i) * o.all_in(), stage + i * o.staged_row());
    }
    for (std::int64_t i = 0; i < count; i += kMostRows) {
      const std::int16_t* x[kMostRows];
      std::int32_t* to[kMostRows];
      const std::int64_t rows = std::min<std::int64_t>(kMostRows, count - i);
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t p = begin + i + r;
        x[r] = stage + (i + r) * o.staged_row();
        to[r] = acc + (out_rows != nullptr ? out_rows[p] - first : p) * o.grouped.row();
      }
      if (rows == kMostRows) {
        add_rows<kMostRows>(o, x, weight, to);
      } else {
        for (std::int64_t r = 0; r < rows; ++r) add_rows<1>(o, x + r, weight, to + r);
      }
    }
  }
}

/// Output rows [begin, end) into acc [end − begin, accumulator row].
void add_tile(const Operands& o, std::int64_t begin, std::int64_t end, std::int32_t* acc,
              std::int16_t* stage) {
  if (o.map == nullptr) return add_pairs(o, 0, nullptr, nullptr, end - begin, begin, acc, stage);
  const auto* offset_begin = o.map->offset_begin.data<std::int64_t>();
  const auto* in_rows = o.map->in_rows.data<std::int32_t>();
  const auto* out_rows = o.map->out_rows.data<std::int32_t>();
  for (std::int64_t k = 0; k + 1 < o.map->offset_begin.numel(); ++k) {
    const std::int32_t* stop = out_rows + offset_begin[k + 1];
    const std::int32_t* from = std::lower_bound(out_rows + offset_begin[k], stop, begin);
    const std::int32_t* to = std::lower_bound(from, stop, end);
    add_pairs(o, k, in_rows + (from - out_rows), from, to - from, begin, acc, stage);
  }
}

/// i32 sums → f32: acc · factor + bias, in place. factor and bias are one accumulator row.
void dequantise_tile(const float* factor, const float* bias, std::int64_t rows, std::int64_t columns,
                     std::int32_t* acc) {
  const D d;
  const hn::RebindToSigned<D> integers;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t j = 0; j < columns; j += kLanes) {
      std::int32_t* at = acc + row * columns + j;
      const V value = hn::ConvertTo(d, hn::Load(integers, at));
      hn::Store(hn::BitCast(integers, hn::MulAdd(value, hn::Load(d, factor + j), hn::Load(d, bias + j))),
                integers, at);
    }
  }
}

/// to[i] = round(from[i] / scale), half to even, saturated; NaN gives 0.
void requantise(const float* from, std::int64_t count, float scale, std::int8_t* to) {
  for_each_vector(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const hn::Rebind<std::int8_t, decltype(d)> narrow;
    auto value = hn::Div(hn::LoadU(d, from + i), hn::Set(d, scale));
    value = hn::IfThenZeroElse(hn::IsNaN(value), value);
    value = hn::Min(hn::Max(value, hn::Set(d, -128.0F)), hn::Set(d, 127.0F));
    hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(value)), narrow, to + i);
  });
}

/// Where the parts of the workspace lie behind the padded vectors and tiles, per thread.
struct Scratch {
  std::int64_t factors;  // floats, of all threads
  std::int64_t staged;   // i16
  std::int64_t results;  // floats of a tile before it is requantised

  Scratch(const Operands& o, std::int64_t rows, bool requantised)
      : factors(o.grouped.row()),
        staged((o.staged_rows() * o.staged_row() + 31) / 32 * 32),
        results(requantised ? (rows * o.grouped.all_out() + 15) / 16 * 16 : 0) {}
  std::int64_t bytes(std::int64_t slots) const {
    return factors * 4 + slots * (staged * 2 + results * 4) + 64;
  }
};

Operands operands_of(const SparseConvArgs& args) {
  const Grouped grouped(args.problem.groups, args.problem.c_in, args.problem.c_out);
  return {grouped, args.map, (grouped.c_in + 1) / 2, nullptr, nullptr};
}

std::int64_t i8_scratch_bytes(const SparseConvArgs& args) {
  const Operands o = operands_of(args);
  const std::int64_t rows = tile_rows(args.problem.n_out, o.grouped.row());
  const std::int64_t slots = resolve_threads(args.threads);
  return scratch_bytes(rows, o.grouped.row(), slots, Scratch(o, rows, args.problem.requantised).bytes(slots));
}

void run_i8(const SparseConvArgs& args) {
  Operands o = operands_of(args);
  const Tensor packed = packed_pairs(args.weight, o.grouped);
  o.in = args.in.data<std::int8_t>();
  o.weight = packed.data<std::int16_t>();
  const std::int64_t columns = o.grouped.row();
  const std::int64_t rows = tile_rows(args.problem.n_out, columns);
  const std::int64_t slots = resolve_threads(args.threads);
  const std::int64_t all_out = o.grouped.all_out();
  const bool requantised = args.problem.requantised;
  const Scratch sizes(o, rows, requantised);

  float* scratch = aligned<float>(args.workspace);
  const TileEpilogue<float> epilogue = pad_epilogue<float>(args.epilogue, o.grouped, scratch);
  float* tiles = scratch + 3 * columns;
  float* factor = tiles + slots * rows * columns;
  auto* stages = aligned<std::int16_t>(factor + sizes.factors);
  auto* results = reinterpret_cast<float*>(stages + slots * sizes.staged);
  std::fill_n(factor, columns, 0.0F);
  const Quantization& scales = args.epilogue.quantization;
  for (std::int64_t n = 0; n < all_out; ++n) {
    factor[n / o.grouped.c_out * o.grouped.columns + n % o.grouped.c_out] =
        scales.in_scale * scales.weight_scale.data<float>()[n];
  }

  parallel_chunks(
      args.problem.n_out, rows, args.threads, [&](std::int64_t begin, std::int64_t end, int slot) {
        float* tile = tiles + slot * rows * columns;
        auto* acc = reinterpret_cast<std::int32_t*>(tile);
        std::memset(acc, 0, static_cast<std::size_t>((end - begin) * columns) * sizeof(std::int32_t));
        add_tile(o, begin, end, acc, stages + slot * sizes.staged);
        dequantise_tile(factor, epilogue.bias, end - begin, columns, acc);
        if (!requantised)
          return finish_tile(epilogue, tile, end - begin, o.grouped, begin, args.out.mutable_data<float>());
        float* result = results + slot * sizes.results;
        TileEpilogue<float> local = epilogue;
        if (local.residual != nullptr) local.residual += begin * all_out;
        finish_tile(local, tile, end - begin, o.grouped, 0, result);
        requantise(result, (end - begin) * all_out, scales.out_scale,
                   args.out.mutable_data<std::int8_t>() + begin * all_out);
      });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(i8_scratch_bytes);
HWY_EXPORT(run_i8);

std::string supports(const SparseConvArgs& args) {
  const ConvProblem& problem = args.problem;
  constexpr std::int64_t kMostTerms = std::numeric_limits<std::int32_t>::max() / (128 * 128);
  if (problem.dtype == DType::kI8 && problem.c_in / problem.groups > kMostTerms / problem.spec.volume()) {
    return "sums up to " + std::to_string(kMostTerms) + " products in 32 bits, K · C_in / groups is more";
  }
  return takes_dtype(problem, DType::kI8);
}

std::int64_t workspace_bytes(const SparseConvArgs& args) {
  return HWY_DYNAMIC_DISPATCH(i8_scratch_bytes)(args);
}
void run(const SparseConvArgs& args) { HWY_DYNAMIC_DISPATCH(run_i8)(args); }

}  // namespace

constinit const Kernel<SparseConvArgs> kSparseConvImplicitGemmI8 = {
    "cpu/sparse_conv/implicit_gemm/i8", "i32 output tiles in cache, pairs of channels multiplied as i16",
    supports, workspace_bytes, run};
constinit const Kernel<SparseConvArgs> kLinearPackedGemmI8 = {
    "cpu/linear/packed_gemm/i8", "i32 row tiles in cache, pairs of channels multiplied as i16", supports,
    workspace_bytes, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
