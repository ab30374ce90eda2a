// What stands before and behind the products of a tile while it is cached: the accumulators start from the
// bias, and
//
//   out[row, :] = activation( acc[row, :] · scale + shift + residual[row, :] )
//
// Accumulators, bias, scale and shift are f32 whatever the features are; the output is rounded once. Also the
// scratch memory of a run: padded copies of the vectors above, then one accumulator tile per thread.
//
// Re-included once per Highway target.
#if defined(AEROGEL_BACKEND_CPU_TILE_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef AEROGEL_BACKEND_CPU_TILE_EPILOGUE_INL_H_
#undef AEROGEL_BACKEND_CPU_TILE_EPILOGUE_INL_H_
#else
#define AEROGEL_BACKEND_CPU_TILE_EPILOGUE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backend/cpu/activate-inl.h"
#include "backend/cpu/feature_vectors-inl.h"
#include "backend/cpu/gemm_tile-inl.h"
#include "backend/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): one copy per target and file

// Accumulators of a tile: few enough to stay in the L2 cache beside the input rows they meet, enough that the
// pairs of one kernel offset in a tile pay for loading its weights.
constexpr std::int64_t kTileFloats = 32768;
constexpr std::int64_t kMostTileRows = 512;
constexpr std::int64_t kLeastTileRows = 128;

/// Rows of a tile; fewer where there are few rows, so that many threads find work.
inline std::int64_t tile_rows(std::int64_t n_out, std::int64_t columns) {
  const std::int64_t cached =
      std::clamp(kTileFloats / std::max<std::int64_t>(columns, 1), kLeastTileRows, kMostTileRows);
  return std::min(cached, std::max<std::int64_t>(32, n_out / 16));
}

template <class T>
struct TileEpilogue {
  const float* bias;   // [accumulator row], zeros if there is none
  const float* scale;  // [accumulator row], ones if there is none
  const float* shift;  // [accumulator row], zeros if there is none
  const T* residual;   // [N_out, C_out] or null
  bool affine;         // scale or shift was given
  Activation activation;
  float negative_slope;
};

constexpr std::uintptr_t kScratchAlignment = 64;

/// Bytes of the padded vectors, `slots` tiles behind them and `more` bytes behind those, each aligned.
inline std::int64_t scratch_bytes(std::int64_t rows, std::int64_t columns, std::int64_t slots,
                                  std::int64_t more) {
  return static_cast<std::int64_t>(2 * kScratchAlignment) +
         (3 * columns + slots * rows * columns) * static_cast<std::int64_t>(sizeof(float)) + more;
}

template <class T>
T* aligned(void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return reinterpret_cast<T*>(static_cast<char*>(memory) + (-address & (kScratchAlignment - 1)));
}

/// Fills the first three accumulator rows of `scratch`.
template <class T>
TileEpilogue<T> pad_epilogue(const Epilogue& epilogue, const Grouped& grouped, float* scratch) {
  const auto padded = [&](const Tensor& from, std::int64_t place, float otherwise) {
    float* to = scratch + place * grouped.row();
    std::fill_n(to, grouped.row(), otherwise);
    for (std::int64_t g = 0; from.defined() && g < grouped.groups; ++g) {
      std::copy_n(from.data<float>() + g * grouped.c_out, grouped.c_out, to + g * grouped.columns);
    }
    return to;
  };
  return {padded(epilogue.bias, 0, 0),
          padded(epilogue.scale, 1, 1),
          padded(epilogue.shift, 2, 0),
          epilogue.residual.defined() ? epilogue.residual.data<T>() : nullptr,
          epilogue.scale.defined() || epilogue.shift.defined(),
          epilogue.activation,
          epilogue.negative_slope};
}

inline void start_tile(const float* bias_row, std::int64_t rows, std::int64_t columns, float* acc) {
  const D d;
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    const V bias = hn::Load(d, bias_row + j);
    for (std::int64_t row = 0; row < rows; ++row) hn::Store(bias, d, acc + row * columns + j);
  }
}

/// One group's share of the rows of a tile.
struct TileRows {
  std::int64_t count;
  std::int64_t acc_step;  // from one accumulator row to the next
  std::int64_t out_step;  // from one output row to the next
  std::int64_t c_out;     // channels of the group
};

/// One vector of columns of all rows of a tile: acc → out. The last `lanes` < kLanes columns of a row go
/// through a buffer. ReLU is x < 0 ? 0 : x, so that NaN stays NaN; it is in every other network, so its
/// branch is taken outside the loop.
template <class T, bool kAffine, bool kResidual, bool kRelu>
HWY_INLINE void finish_columns(const TileEpilogue<T>& epilogue, const TileRows& tile, const float* acc,
                               std::int64_t column, const T* residual, T* out) {
  const D d;
  const V scale = hn::Load(d, epilogue.scale + column);
  const V shift = hn::Load(d, epilogue.shift + column);
  const std::int64_t lanes = std::min(kLanes, tile.c_out - column);
  HWY_ALIGN T tail[kLanes] = {};
  acc += column;
  out += column;
  if (kResidual) residual += column;
  for (std::int64_t row = 0; row < tile.count; ++row, acc += tile.acc_step, out += tile.out_step) {
    V value = hn::Load(d, acc);
    if (kAffine) value = hn::Add(hn::Mul(value, scale), shift);
    if (kResidual) {
      const T* from = residual + row * tile.out_step;
      if (lanes < kLanes) from = std::copy_n(from, lanes, tail) - lanes;
      value = hn::Add(value, load_f32(d, from));
    }
    if (kRelu) {
      value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
    } else if (epilogue.activation != Activation::kNone) {
      value = activate(d, value, epilogue.activation, epilogue.negative_slope);
    }
    if (lanes == kLanes) {
      store_f32(value, d, out);
    } else {
      store_f32(value, d, tail);
      std::copy_n(tail, lanes, out);
    }
  }
}

template <class T, bool... kFlags>
HWY_NOINLINE void finish_rows(const TileEpilogue<T>& epilogue, const TileRows& tile, const float* acc,
                              const T* residual, T* out) {
  for (std::int64_t j = 0; j < tile.c_out; j += kLanes) {
    finish_columns<T, kFlags...>(epilogue, tile, acc, j, residual, out);
  }
}

/// acc [rows, accumulator row] → out[first_row …, C_out].
template <class T>
void finish_tile(const TileEpilogue<T>& epilogue, const float* acc, std::int64_t rows, const Grouped& grouped,
                 std::int64_t first_row, T* out) {
  constexpr decltype(&finish_rows<T, false, false, false>) kVariants[] = {
      finish_rows<T, false, false, false>, finish_rows<T, false, false, true>,
      finish_rows<T, false, true, false>,  finish_rows<T, false, true, true>,
      finish_rows<T, true, false, false>,  finish_rows<T, true, false, true>,
      finish_rows<T, true, true, false>,   finish_rows<T, true, true, true>};
  const int variant =
      4 * epilogue.affine + 2 * (epilogue.residual != nullptr) + (epilogue.activation == Activation::kRelu);
  const TileRows tile{rows, grouped.row(), grouped.all_out(), grouped.c_out};
  for (std::int64_t g = 0; g < grouped.groups; ++g) {
    const std::int64_t at = first_row * grouped.all_out() + g * grouped.c_out;
    const std::int64_t column = g * grouped.columns;
    TileEpilogue<T> group = epilogue;
    group.scale += column;
    group.shift += column;
    kVariants[variant](group, tile, acc + column, epilogue.residual ? epilogue.residual + at : nullptr,
                       out + at);
  }
}

/// The weight in f32 panels, packed once per weight and number of groups.
inline Tensor packed_panels(const ConvWeight& weight, const Grouped& grouped) {
  const std::string layout = "cpu/panels/f32/" + std::to_string(kLanes) + "x" + std::to_string(kMaxVectors) +
                             "/" + std::to_string(grouped.groups);
  return weight.packed(layout, [&](const Tensor& canonical) {
    Tensor packed = Tensor::empty({weight.volume(), grouped.groups, grouped.weights()}, DType::kF32);
    pack_panels(canonical.to(DType::kF32).data<float>(), weight.volume(), grouped,
                packed.mutable_data<float>());
    return packed;
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#endif  // AEROGEL_BACKEND_CPU_TILE_EPILOGUE_INL_H_
