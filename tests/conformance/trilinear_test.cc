// Trilinear features at points, and reduced voxels, against the reference rows.
#include <cmath>

#include <fmt/core.h>

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

TEST(Conformance, Trilinear) {
  for_each_problem(
      "trilinear", 80,
      [](Random& random) {
        return fmt::format("trilinear:{}:shape={}x{}x{}:batch=1:n={}:order={}:points={}:c={}:grid={}:seed={}",
                           random_dtype(random), random.integer(1, 9), random.integer(1, 9),
                           random.integer(1, 9), random.integer(0, 9) ? random.integer(1, 200) : 0,
                           random.integer(0, 1) ? "sorted" : "shuffled", random.integer(0, 600),
                           random.integer(1, 40), random.integer(0, 1), random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const DType dtype = dtype_of(problem);
        TrilinearArgs args;
        args.coordinates = sites_of(problem, random);
        args.in = signed_tensor(random, {args.coordinates.size(), problem.integer("c")}, dtype);
        args.points = signed_tensor(random, {problem.integer("points"), random.integer(3, 5)});
        for (std::int64_t i = 0; i < args.points.numel();
             ++i) {  // some on centres and faces, some far outside
          float& value = args.points.mutable_data<float>()[i];
          value *= random.integer(0, 40) ? 6.0f : 1e12f;
          if (problem.integer("grid") && random.integer(0, 1)) value = std::round(value * 4) / 4;
        }
        args.grid = problem.integer("grid")
                        ? GridNumbers{{-5, -4.5f, -4}, {1, 0.5f, 2}, {20, 20, 20}}
                        : GridNumbers{{-5.1f, -4.7f, -3.9f}, {0.9f, 1.3f, 1.1f}, {20, 20, 20}};
        const Dims shape{args.points.size(0), problem.integer("c")};
        args.out = poisoned(shape, dtype);
        run_row(reference_row<TrilinearArgs>(&KernelTables::trilinear), args, 1);
        const std::vector<double> expected = doubles(args.out);
        std::vector<double> bound;  // features up to 1, weights that sum to 1: a dozen roundings
        for (const double value : expected)
          bound.push_back(24 * 0x1p-24 + (dtype == DType::kF32 ? 0 : 2 * rounding_of(dtype, value)));
        for_each_row<TrilinearArgs>(&KernelTables::trilinear, [&](const Kernel<TrilinearArgs>& row) {
          args.out = poisoned(shape, dtype);
          run_row(row, args, 1);
          expect_within(args.out, expected, bound);
          const Tensor one_thread = args.out;
          args.out = poisoned(shape, dtype);
          run_row(row, args, 3);
          expect_same_bits(args.out, one_thread, "three threads");
        });
      });
}

TEST(Conformance, VoxelizeReduce) {
  for_each_problem(
      "voxelize_reduce", 60,
      [](Random& random) {
        return fmt::format("voxelize_reduce:{}:points={}:c={}:cells={}:reduce={}:seed={}",
                           random_dtype(random), random.integer(0, 2000), random.integer(3, 6),
                           random.integer(1, 15), random.integer(0, 3), random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        Tensor points = signed_tensor(random, {problem.integer("points"), problem.integer("c")});
        for (std::int64_t p = 0; p < points.size(0) && points.size(1) > 3; ++p) {
          if (random.integer(0, 30) == 0)
            points.mutable_data<float>()[p * points.size(1) + 3] = std::nanf("");
        }
        const auto cells = static_cast<std::int32_t>(problem.integer("cells"));
        const float size = 1.5f / static_cast<float>(cells);
        const auto reduce = [&](const Kernel<VoxelizeReduceArgs>& row) {
          std::vector<Tensor> out(4);
          VoxelizeReduceArgs args;
          args.points = points.to(dtype_of(problem));
          args.grid = {{-0.8f, -0.9f, -0.7f}, {size, size, size}, {cells, cells, cells}};
          args.reduce = static_cast<Reduce>(problem.integer("reduce"));
          args.features = &out[0];
          args.indices = &out[1];
          args.points_per_voxel = &out[2];
          args.point_voxel = &out[3];
          run_row(row, args, 3);
          return out;
        };
        const auto expected = reduce(reference_row<VoxelizeReduceArgs>(&KernelTables::voxelize_reduce));
        for_each_row<VoxelizeReduceArgs>(
            &KernelTables::voxelize_reduce, [&](const Kernel<VoxelizeReduceArgs>& row) {
              const auto got = reduce(row);
              const std::vector<double> values = doubles(expected[0]);
              expect_within(got[0], values,
                            std::vector<double>(values.size(), 0x1p-140));  // the same double sums
              for (std::size_t i = 1; i < 4; ++i) expect_same_bits(got[i], expected[i], "reduced voxels");
            });
      });
}

}  // namespace
}  // namespace aerogel::testing
