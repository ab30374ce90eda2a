// Unions, dense conversions and voxelizers against the reference rows, bit for bit.
#include <fmt/core.h>

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

TEST(Conformance, SiteUnionAndScatterAdd) {
  for_each_problem(
      "site_union", 80,
      [](Random& random) {
        const std::int64_t wide = random.integer(0, 5) == 0;
        return fmt::format("site_union:{}:shape={}:batch={}:n={}:m={}:order={}:c={}:seed={}",
                           random_dtype(random), wide ? "1300000x1300000x1300000" : "9x7x8",
                           random.integer(1, 3), random.integer(0, 300), random.integer(0, 300),
                           random.integer(0, 1) ? "sorted" : "shuffled", random.integer(1, 40),
                           random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        SiteUnionArgs args;
        args.a = sites_of(problem, random);
        args.b = random_sites(random, problem.dims("shape"), problem.integer("batch"), problem.integer("m"),
                              problem.text("order") == "sorted");
        struct Result {
          Coordinates sites;
          Tensor a, b;
        };
        const auto run = [&](const Kernel<SiteUnionArgs>& row, int threads) {
          Result result;
          args.out = &result.sites;
          args.rows_a = &result.a;
          args.rows_b = &result.b;
          run_row(row, args, threads);
          return result;
        };
        const Result expected = run(reference_row<SiteUnionArgs>(&KernelTables::site_union), 1);
        for_each_row<SiteUnionArgs>(&KernelTables::site_union, [&](const Kernel<SiteUnionArgs>& row) {
          if (!row.supports(args).empty()) return;
          const Result got = run(row, 3);
          expect_same_bits(got.sites.indices(), expected.sites.indices(), "union");
          EXPECT_EQ(got.sites.spatial_shape(), expected.sites.spatial_shape());
          expect_same_bits(got.a, expected.a, "rows_a");
          expect_same_bits(got.b, expected.b, "rows_b");
        });

        ScatterAddArgs sum;
        const std::int64_t c = problem.integer("c");
        sum.parts = {signed_tensor(random, {args.a.size(), c}, dtype_of(problem)),
                     signed_tensor(random, {args.b.size(), c}, dtype_of(problem))};
        sum.rows = {expected.a, expected.b};
        sum.out = poisoned({expected.sites.size(), c}, dtype_of(problem));
        run_row(reference_row<ScatterAddArgs>(&KernelTables::scatter_add), sum, 1);
        const Tensor expected_sum = sum.out;
        for_each_row<ScatterAddArgs>(&KernelTables::scatter_add, [&](const Kernel<ScatterAddArgs>& row) {
          sum.out = poisoned(expected_sum.shape(), expected_sum.dtype());
          run_row(row, sum, 3);
          expect_same_bits(sum.out, expected_sum, "scattered sum");
        });
      });
}

TEST(Conformance, Dense) {
  for_each_problem(
      "to_dense", 60,
      [](Random& random) {
        Dims shape;
        for (std::int64_t axis = random.integer(1, 4); axis > 0; --axis)
          shape.push_back(random.integer(1, 7));
        return fmt::format("to_dense:{}:shape={}:batch={}:n={}:order={}:c={}:first={}:seed={}",
                           random_dtype(random), shape.joined('x'), random.integer(1, 3),
                           random.integer(0, 100), random.integer(0, 1) ? "sorted" : "shuffled",
                           random.integer(1, 20), random.integer(0, 1), random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        ToDenseArgs args;
        args.coordinates = sites_of(problem, random);
        args.channels_first = problem.integer("first") == 1;
        args.in = signed_tensor(random, {args.coordinates.size(), problem.integer("c")}, dtype_of(problem));
        Dims shape{problem.integer("batch")};
        if (args.channels_first) shape.push_back(problem.integer("c"));
        for (const std::int64_t extent : problem.dims("shape")) shape.push_back(extent);
        if (!args.channels_first) shape.push_back(problem.integer("c"));
        args.out = poisoned(shape, dtype_of(problem));
        run_row(reference_row<ToDenseArgs>(&KernelTables::to_dense), args, 1);
        const Tensor dense = args.out;
        for_each_row<ToDenseArgs>(&KernelTables::to_dense, [&](const Kernel<ToDenseArgs>& row) {
          args.out = poisoned(shape, dtype_of(problem));
          run_row(row, args, 3);
          expect_same_bits(args.out, dense, "dense");
        });

        const auto back = [&](const Kernel<FromDenseArgs>& row) {
          std::pair<Tensor, Tensor> result;
          FromDenseArgs from;
          from.dense = dense;
          from.channels_first = args.channels_first;
          from.indices = &result.first;
          from.features = &result.second;
          run_row(row, from, 3);
          return result;
        };
        const auto expected = back(reference_row<FromDenseArgs>(&KernelTables::from_dense));
        EXPECT_EQ(expected.first.size(0), args.coordinates.size());
        for_each_row<FromDenseArgs>(&KernelTables::from_dense, [&](const Kernel<FromDenseArgs>& row) {
          const auto got = back(row);
          expect_same_bits(got.first, expected.first, "indices");
          expect_same_bits(got.second, expected.second, "features");
        });
      });
}

TEST(Conformance, Voxelize) {
  for_each_problem(
      "voxelize", 60,
      [](Random& random) {
        return fmt::format("voxelize:{}:n={}:c={}:cells={}:max_points={}:max_voxels={}:seed={}",
                           random_dtype(random), random.integer(0, 3000), random.integer(3, 6),
                           random.integer(1, 20), random.integer(1, 6), random.integer(1, 500),
                           random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const Tensor points = signed_tensor(random, {problem.integer("n"), problem.integer("c")});
        const auto cells = static_cast<std::int32_t>(problem.integer("cells"));
        const auto scale = static_cast<float>(cells);
        // A box smaller than the cloud, so that points fall outside on every side.
        const GridNumbers grid{
            {-0.8f, -0.9f, -0.7f}, {1.5f / scale, 1.6f / scale, 1.4f / scale}, {cells, cells, cells}};
        const auto capped = [&](const Kernel<VoxelizeArgs>& row) {
          std::vector<Tensor> out(4);
          VoxelizeArgs args;
          args.points = points;
          args.grid = grid;
          args.max_points = problem.integer("max_points");
          args.max_voxels = problem.integer("max_voxels");
          args.voxel_points = &out[0];
          args.indices = &out[1];
          args.points_per_voxel = &out[2];
          args.point_voxel = &out[3];
          run_row(row, args, 3);
          return out;
        };
        const auto expected = capped(reference_row<VoxelizeArgs>(&KernelTables::voxelize));
        for_each_row<VoxelizeArgs>(&KernelTables::voxelize, [&](const Kernel<VoxelizeArgs>& row) {
          const auto got = capped(row);
          for (std::size_t i = 0; i < 4; ++i) expect_same_bits(got[i], expected[i], "capped voxels");
        });

        const auto mean = [&](const Kernel<VoxelizeReduceArgs>& row) {
          std::vector<Tensor> out(4);
          VoxelizeReduceArgs args;
          args.points = points.to(dtype_of(problem));
          args.grid = grid;
          args.features = &out[0];
          args.indices = &out[1];
          args.points_per_voxel = &out[2];
          args.point_voxel = &out[3];
          run_row(row, args, 3);
          return out;
        };
        const auto expected_mean = mean(reference_row<VoxelizeReduceArgs>(&KernelTables::voxelize_reduce));
        for_each_row<VoxelizeReduceArgs>(&KernelTables::voxelize_reduce,
                                         [&](const Kernel<VoxelizeReduceArgs>& row) {
                                           const auto got = mean(row);
                                           for (std::size_t i = 0; i < 4; ++i)
                                             expect_same_bits(got[i], expected_mean[i], "mean voxels");
                                         });
      });
}

}  // namespace
}  // namespace aerogel::testing
