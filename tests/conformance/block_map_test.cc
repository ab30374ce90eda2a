// Maps of blocks (SiteRule::kBlocks) and of chosen rows side by side against the reference rows, bit for bit.
#include <fmt/core.h>

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

TEST(Conformance, BlockMap) {
  for_each_problem(
      "block_map", 100,
      [](Random& random) {
        Dims shape;
        Dims factor;
        for (std::int64_t axis = random.integer(1, 4); axis > 0; --axis) {
          const bool wide = axis == 1 && random.integer(0, 5) == 0;
          shape.push_back(wide ? 1000000000 : random.integer(1, 30));
          factor.push_back(random.integer(1, axis > 2 ? 3 : 7));
        }
        return fmt::format(
            "block_map:kind=regular:kernel={}:stride={}:padding={}:dilation={}:sites=blocks:"
            "shape={}:batch={}:n={}:order={}:seed={}",
            factor.joined('x'), factor.joined('x'), Dims::filled(shape.size(), 0).joined('x'),
            Dims::filled(shape.size(), 1).joined('x'), shape.joined('x'), random.integer(1, 3),
            random.integer(0, 9) ? random.integer(1, 300) : 0, random.integer(0, 1) ? "sorted" : "shuffled",
            random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const Coordinates in = sites_of(problem, random);
        const KernelSpec spec = spec_of(problem);
        const auto expected = reference_map(in, spec);
        EXPECT_EQ(expected->pairs(), in.size()) << "one pair a site";
        for_each_row<MapArgs>(&KernelTables::build_kernel_map, [&](const Kernel<MapArgs>& row) {
          KernelMap got;
          MapArgs args;
          args.in = in;
          args.spec = spec;
          args.out = &got;
          if (!row.supports(args).empty()) return;
          run_row(row, args, 3);
          ASSERT_EQ(got.new_coordinates.defined(), expected->new_coordinates.defined());
          if (got.new_coordinates.defined()) {
            const Coordinates& sites = expected->new_coordinates;
            expect_same_bits(got.new_coordinates.indices(), sites.indices(), "sites");
            EXPECT_EQ(got.new_coordinates.spatial_shape(), sites.spatial_shape());
            EXPECT_EQ(got.new_coordinates.tensor_stride(), sites.tensor_stride());
          }
          expect_same_bits(got.in_rows, expected->in_rows, "in_rows");
          expect_same_bits(got.out_rows, expected->out_rows, "out_rows");
          expect_same_bits(got.offset_begin, expected->offset_begin, "offset_begin");
        });
      });
}

TEST(Conformance, ConcatOfChosenRows) {
  for_each_problem(
      "concat_rows", 40,
      [](Random& random) {
        return fmt::format("concat_rows:{}:n={}:parts={}:seed={}", random_dtype(random),
                           random.integer(0, 700), random.integer(1, 4), random.integer(0, 1 << 30));
      },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        const DType dtype = dtype_of(problem);
        const std::int64_t n = problem.integer("n");
        ConcatArgs args;
        std::int64_t width = 0;
        for (std::int64_t i = 0; i < problem.integer("parts"); ++i) {
          const std::int64_t rows = random.integer(0, 90);
          args.parts.push_back(signed_tensor(random, {rows, random.integer(1, 40)}, dtype));
          args.ids.push_back(Tensor::empty({n}, DType::kI64));
          for (std::int64_t at = 0; at < n; ++at)
            args.ids.back().mutable_data<std::int64_t>()[at] = random.integer(-1, rows - 1);
          width += args.parts.back().size(1);
        }
        args.out = poisoned({n, width}, dtype);
        run_row(reference_row<ConcatArgs>(&KernelTables::concat), args, 1);
        const Tensor expected = args.out;
        for_each_row<ConcatArgs>(&KernelTables::concat, [&](const Kernel<ConcatArgs>& row) {
          args.out = poisoned({n, width}, dtype);
          run_row(row, args, 3);
          expect_same_bits(args.out, expected, "rows side by side");
        });
      });
}

}  // namespace
}  // namespace aerogel::testing
