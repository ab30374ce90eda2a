// Times every row of the cpu backend's tables, one thread, on rows of a LiDAR sweep. A kernel is timed by
// being listed. The headers of src/backend/cpu/*.cc quote it:
//
//   cmake --build --preset release --target benchmarks
//   build/release/benchmarks/benchmark_rows --benchmark_repetitions=25 | grep _min
//
// cpu_time is what this thread ran, so a busy machine adds cache misses only; `min` is the least disturbed
// repetition. GB/s counts each array once. Convolutions have a benchmark of their own: `aerogel bench`.
#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench_sites.h"
#include "geometry.h"
#include "plan/choose.h"

namespace {

using namespace aerogel;
using aerogel::cli::BenchSites;

constexpr std::int64_t kChannels = 64;

Tensor features(std::int64_t rows, std::int64_t channels) {
  Tensor tensor = Tensor::empty({rows, channels}, DType::kF32);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;  // signed, none is NaN
  }
  return tensor;
}
Tensor features(const Dims& shape) { return features(1, shape.product()).reshape(shape); }

/// One benchmark per row: `<row>/<what>`. `bytes` of a call, 0 where they say nothing.
template <class Args>
void add(Table<Args> table, const std::string& what, Args args, std::int64_t bytes) {
  args.threads = 1;
  for (const Kernel<Args>& row : tables_of(Backend::kCpu).*table) {
    if (!row.supports(args).empty()) continue;
    benchmark::RegisterBenchmark((std::string(row.name) + "/" + what).c_str(),
                                 [&row, args, bytes](benchmark::State& state) mutable {
                                   Tensor workspace;
                                   if (row.workspace_bytes) {
                                     workspace = Tensor::empty({row.workspace_bytes(args)}, DType::kU8);
                                     if constexpr (requires { args.workspace; })
                                       args.workspace = workspace.raw();
                                   }
                                   for (auto _ : state) row.run(args);
                                   if (bytes > 0) state.SetBytesProcessed(state.iterations() * bytes);
                                 })
        ->Unit(benchmark::kMillisecond)
        ->ComputeStatistics("min", [](const std::vector<double>& times) {
          return *std::min_element(times.begin(), times.end());
        });
  }
}

/// What the benchmarks of maps, sites and rows read; lives until the process ends.
struct Sweep {
  cli::Geometry geometry = cli::lidar(0);
  BenchSites raw = cli::bench_sites("lidar:0", "", false, 0);
  Coordinates sites = cli::coordinates_of(raw);
  Coordinates shuffled = cli::coordinates_of(cli::bench_sites("lidar:0", "", true, 1));
  Coordinates other = cli::coordinates_of(cli::bench_sites("lidar:1", "", false, 0));
  Coordinates coarse =
      cli::coordinates_of(cli::halve(cli::halve(cli::halve(raw))));  // as a detector's last level
  KernelMap map;                                                     // built into by the benchmarks of maps
  KernelMap down;
  Coordinates joined;
  Tensor rows_a, rows_b, out[4];
};

void add_maps(Sweep& sweep) {
  const KernelSpec subm = KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3});
  const KernelSpec down = KernelSpec::make(ConvKind::kRegular, {3, 3, 3}, {2, 2, 2}, {1, 1, 1});
  const Table<MapArgs> table = &KernelTables::build_kernel_map;
  add<MapArgs>(table, "subm3", {sweep.sites, subm, 1, &sweep.map}, 0);
  add<MapArgs>(table, "subm3_shuffled", {sweep.shuffled, subm, 1, &sweep.map}, 0);
  add<MapArgs>(table, "stride2", {sweep.sites, down, 1, &sweep.map}, 0);
}

void add_pools(Sweep& sweep) {
  const KernelSpec spec = KernelSpec::make(ConvKind::kRegular, {3, 3, 3}, {2, 2, 2}, {1, 1, 1});
  tables_of(Backend::kCpu).build_kernel_map[0].run({sweep.sites, spec, 1, &sweep.down});
  const Tensor in = features(sweep.sites.size(), kChannels);
  const Tensor out = Tensor::empty({sweep.down.n_out, kChannels}, DType::kF32);
  const std::int64_t bytes = sweep.down.pairs() * kChannels * 4 + out.nbytes();
  const std::string pairs = "/" + std::to_string(sweep.down.pairs()) + "_pairs";
  add<PoolArgs>(&KernelTables::pool, "max" + pairs, {PoolKind::kMax, 0, &sweep.down, in, out}, bytes);
  add<PoolArgs>(&KernelTables::pool, "mean" + pairs, {PoolKind::kAvg, 0, &sweep.down, in, out}, bytes);
  const Tensor item = Tensor::empty({1, kChannels}, DType::kF32);
  const auto table = &KernelTables::global_pool;
  add<GlobalPoolArgs>(table, "max", {PoolKind::kMax, 0, sweep.sites, in, item}, in.nbytes());
  add<GlobalPoolArgs>(table, "mean", {PoolKind::kAvg, 0, sweep.sites, in, item}, in.nbytes());
}

void add_rows(Sweep& sweep) {
  const std::int64_t n = sweep.sites.size();
  const Tensor in = features(n, kChannels);
  const Tensor out = Tensor::empty({n, kChannels}, DType::kF32);
  const Tensor channel = features(Dims{kChannels});
  AffineArgs affine{in, channel, channel, {}, Activation::kRelu, out};
  add<AffineArgs>(&KernelTables::affine, "scale_shift_relu", affine, 2 * in.nbytes());
  affine.residual = features(n, kChannels);
  add<AffineArgs>(&KernelTables::affine, "scale_shift_residual_relu", affine, 3 * in.nbytes());
  for (const Activation activation : {Activation::kSilu, Activation::kGeluErf, Activation::kGeluTanh}) {
    AffineArgs activate{in};
    activate.activation = activation;
    activate.out = out;
    add<AffineArgs>(&KernelTables::affine, std::string(activation_name(activation)), activate,
                    2 * in.nbytes());
  }
  add<RowNormArgs>(&KernelTables::row_norm, "layer_c64", {in, channel, channel, true, 1e-5, out},
                   2 * in.nbytes());
  add<GroupNormArgs>(&KernelTables::group_norm, "8_groups_c64",
                     {sweep.sites, in, channel, channel, 8, 1e-5, out}, 4 * in.nbytes());  // three passes
  const Tensor mean = Tensor::empty({kChannels}, DType::kF64);
  const Tensor var = Tensor::empty({kChannels}, DType::kF64);
  add<MomentsArgs>(&KernelTables::moments, "c64", {in, mean, var}, 2 * in.nbytes());  // both passes
  const std::vector<Tensor> halves = {features(n, kChannels / 2), features(n, kChannels / 2)};
  add<ConcatArgs>(&KernelTables::concat, "32+32", {halves, out}, 2 * in.nbytes());
  const Tensor ids = Tensor::empty({n}, DType::kI64);
  for (std::int64_t i = 0; i < n; ++i) ids.mutable_data<std::int64_t>()[i] = i * 40503 % n;
  add<GatherRowsArgs>(&KernelTables::gather_rows, "c64_any_order", {in, ids, out}, 2 * in.nbytes());
}

void add_unions(Sweep& sweep) {
  add<SiteUnionArgs>(&KernelTables::site_union, "lidar:0+lidar:1",
                     {sweep.sites, sweep.other, &sweep.joined, &sweep.rows_a, &sweep.rows_b}, 0);
  Coordinates joined;
  Tensor rows_a, rows_b;
  tables_of(Backend::kCpu).site_union[0].run({sweep.sites, sweep.other, &joined, &rows_a, &rows_b, 1});
  const Tensor a = features(sweep.sites.size(), kChannels);
  const Tensor b = features(sweep.other.size(), kChannels);
  const Tensor out = Tensor::empty({joined.size(), kChannels}, DType::kF32);
  add<ScatterAddArgs>(&KernelTables::scatter_add, "c64", {{a, b}, {rows_a, rows_b}, out},
                      2 * (a.nbytes() + b.nbytes()) + out.nbytes());
}

void add_dense(Sweep& sweep) {
  const Dims& extent = sweep.coarse.spatial_shape();
  const Tensor in = features(sweep.coarse.size(), kChannels);
  for (const bool first : {true, false}) {
    Dims shape{1};
    if (first) shape.push_back(kChannels);
    for (const std::int64_t cells : extent) shape.push_back(cells);
    if (!first) shape.push_back(kChannels);
    const Tensor dense = Tensor::zeros(shape, DType::kF32);
    const std::string what = (first ? "channels_first/" : "channels_last/") + dense.shape().joined('x') +
                             "/" + std::to_string(in.size(0)) + "_sites";
    const ToDenseArgs to{sweep.coarse, in, first, dense};
    tables_of(Backend::kCpu).to_dense[0].run(to);
    add<ToDenseArgs>(&KernelTables::to_dense, what, to, dense.nbytes() + 2 * in.nbytes());
    add<FromDenseArgs>(&KernelTables::from_dense, what, {dense, first, &sweep.out[0], &sweep.out[1]},
                       dense.nbytes() + 2 * in.nbytes());
  }
}

void add_voxelizers(Sweep& sweep) {
  const cli::Geometry& from = sweep.geometry;
  const Tensor points = Tensor::from<float>({std::ssize(from.points) / 4, 4}, from.points);
  GridNumbers grid{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    grid.lo[axis] = static_cast<float>(from.lo[axis]);
    grid.size[axis] = static_cast<float>(from.voxel[axis]);
    grid.extent[axis] = static_cast<std::int32_t>(from.spatial_shape[2 - axis]);
  }
  const std::string what = std::to_string(points.size(0)) + "_points";
  add<VoxelizeArgs>(&KernelTables::voxelize, what,
                    {points, grid, 10, 150000, &sweep.out[0], &sweep.out[1], &sweep.out[2], &sweep.out[3]},
                    0);
  add<VoxelizeReduceArgs>(&KernelTables::voxelize_reduce, what,
                          {points, grid, &sweep.out[0], &sweep.out[1], &sweep.out[2], &sweep.out[3]}, 0);
  const Tensor in = features(sweep.sites.size(), kChannels);
  const Tensor out = Tensor::empty({points.size(0), kChannels}, DType::kF32);
  add<TrilinearArgs>(&KernelTables::trilinear, what + "_c64", {sweep.sites, in, points, grid, out}, 0);
}

}  // namespace

int main(int argc, char** argv) {
  Sweep sweep;
  for (const auto& add_some : {add_maps, add_pools, add_rows, add_unions, add_dense, add_voxelizers})
    add_some(sweep);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
