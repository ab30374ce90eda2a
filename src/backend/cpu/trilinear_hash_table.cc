// cpu/trilinear/hash_table/float
//
//   out[p, :] = Σ_k w_k · in[corner_k, :] / Σ_k w_k    over the corners k of point p that are sites
//
//   in [N, C]    points [P, F]    out [P, C]    zeros where no corner with a weight is a site
//
// A hash table finds the sites; each point looks up the eight cells whose centres surround it and reads at
// most eight rows. Bound by those reads.
//
// Measured 2026-12-01, Intel Xeon family 6 model 207, AVX-512, one thread, mean cpu time on a busy shared
// machine (benchmark_rows): lidar:0, 123,825 points in 66,035 sites of 64 channels, 42 ms, 340 ns a point.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/trilinear_hash_table.cc"
#include "backend/cpu/simd_targets.h"
// after simd_targets.h
#include <cmath>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/op_kernels.h"
#include "backend/cpu/row_arithmetic-inl.h"
#include "backend/cpu/voxel_table.h"
#include "core/feature_types.h"
#include "core/parallel.h"

#ifndef AEROGEL_BACKEND_CPU_TRILINEAR_ONCE
#define AEROGEL_BACKEND_CPU_TRILINEAR_ONCE
namespace aerogel::cpu {
/// The rows that a point reads; weights sum to 1.
struct Corners {
  int count = 0;
  std::int32_t row[8];
  float weight[8];
};
}  // namespace aerogel::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace aerogel::cpu {
namespace HWY_NAMESPACE {

template <class T>
void mix_rows_of(const T* in, const Corners& corners, std::int64_t channels, T* out) {
  for_each_vector(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (int k = 0; k < corners.count; ++k) {
      sum = hn::MulAdd(load_f32(d, in + corners.row[k] * channels + c), hn::Set(d, corners.weight[k]), sum);
    }
    store_f32(sum, d, out + c);
  });
}

/// Rows [begin, end) of out from the corners of these points.
void mix_rows(const TrilinearArgs& args, const Corners* corners, std::int64_t begin, std::int64_t end) {
  const std::int64_t channels = args.in.size(1);
  with_feature_type(args.in.dtype(), [&]<class T>(T) {
    for (std::int64_t p = begin; p < end; ++p) {
      mix_rows_of(args.in.data<T>(), corners[p - begin], channels, args.out.mutable_data<T>() + p * channels);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace aerogel::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerogel::cpu {
namespace {

HWY_EXPORT(mix_rows);

constexpr std::int64_t kChunkPoints = 256;  // their corners stay in the L1 cache

Corners corners_of(const float* point, const GridNumbers& grid, const VoxelTable& table) {
  Corners corners;
  std::int32_t base[3];
  float fraction[3];
  for (int axis = 0; axis < 3; ++axis) {
    const float u = (point[axis] - grid.lo[axis]) / grid.size[axis] - 0.5f;
    const float lower = std::floor(u);
    if (!(lower >= -1.0f && lower < 2147483520.0f)) return corners;  // the largest float below 2^31
    base[axis] = static_cast<std::int32_t>(lower);
    fraction[axis] = u - lower;
  }
  float total = 0;
  for (int k = 0; k < 8; ++k) {  // k = 4 z + 2 y + x
    const int up[3] = {k & 1, k >> 1 & 1, k >> 2};
    float weight = 1;
    for (int axis = 0; axis < 3; ++axis) weight *= up[axis] ? fraction[axis] : 1 - fraction[axis];
    const std::int32_t row = table.find({base[2] + up[2], base[1] + up[1], base[0] + up[0]});
    if (row < 0 || !(weight > 0)) continue;
    corners.row[corners.count] = row;
    corners.weight[corners.count++] = weight;
    total += weight;
  }
  for (int k = 0; k < corners.count; ++k) corners.weight[k] /= total;
  return corners;
}

void run(const TrilinearArgs& args) {
  const std::int64_t sites = args.coordinates.size();
  VoxelTable table(sites);
  for (std::int64_t i = 0; i < sites; ++i) {  // the number of a cell is its row
    const std::int32_t* row = args.coordinates.row(i);
    table.find_or_add({row[1], row[2], row[3]}, sites);
  }
  const std::int64_t width = args.points.size(1);
  const float* points = args.points.data<float>();
  parallel_chunks(args.points.size(0), kChunkPoints, args.threads, [&](std::int64_t begin, std::int64_t end) {
    Corners corners[kChunkPoints];
    for (std::int64_t p = begin; p < end; ++p)
      corners[p - begin] = corners_of(points + p * width, args.grid, table);
    HWY_DYNAMIC_DISPATCH(mix_rows)(args, corners, begin, end);
  });
}

}  // namespace

const Kernel<TrilinearArgs> kTrilinearHashTable = {"cpu/trilinear/hash_table/float",
                                                   "up to eight rows a point, found through a hash table",
                                                   supports_all, nullptr, run};

}  // namespace aerogel::cpu
#endif  // HWY_ONCE
