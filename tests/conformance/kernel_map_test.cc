// Every map builder gives the reference's map bit for bit.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

constexpr Table<MapArgs> kTable = &KernelTables::build_kernel_map;

/// The same pairs with their sides exchanged, by output row within an offset.
void expect_swapped(const KernelMap& swapped, const KernelMap& map) {
  const auto rows = [](const Tensor& tensor, std::int64_t p) { return tensor.data<std::int32_t>()[p]; };
  expect_same_bits(swapped.offset_begin, map.offset_begin, "offset_begin of the inverse map");
  EXPECT_EQ(swapped.n_in, map.n_out);
  EXPECT_EQ(swapped.n_out, map.n_in);
  for (std::int64_t k = 0; k < map.spec.volume(); ++k) {
    std::vector<std::pair<std::int32_t, std::int32_t>> expected, got;  // (output row, input row)
    for (std::int64_t p = map.offset_begin.data<std::int64_t>()[k];
         p < map.offset_begin.data<std::int64_t>()[k + 1]; ++p) {
      expected.emplace_back(rows(map.in_rows, p), rows(map.out_rows, p));
      got.emplace_back(rows(swapped.out_rows, p), rows(swapped.in_rows, p));
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(got, expected) << "offset " << k;
  }
}

std::vector<std::string> rare_maps() {
  std::vector<std::string> problems;
  for (const std::string& geometry : rare_geometries()) problems.push_back("build_kernel_map:" + geometry);
  return problems;
}

TEST(Conformance, BuildKernelMap) {
  for_each_problem(
      "build_kernel_map", 400, [](Random& random) { return "build_kernel_map:" + random_geometry(random); },
      [](const ProblemString& problem) {
        Random random(static_cast<std::uint64_t>(problem.integer("seed")));
        MapArgs args;
        args.in = sites_of(problem, random);
        args.spec = spec_of(problem);
        const bool inverse = args.spec.kind == ConvKind::kInverse;  // a swapped regular map
        if (inverse) args.spec.kind = ConvKind::kRegular;
        const KernelMap expected = *reference_map(args.in, args.spec);
        if (inverse) expect_swapped(*swap_map(expected), expected);
        for_each_row<MapArgs>(kTable, [&](const Kernel<MapArgs>& row) {
          if (!row.supports(args).empty()) return;
          for (const int threads : {1, 3}) {
            KernelMap got;
            args.out = &got;
            run_row(row, args, threads);
            EXPECT_EQ(got.n_in, expected.n_in);
            EXPECT_EQ(got.n_out, expected.n_out);
            EXPECT_EQ(got.spec, expected.spec);
            EXPECT_EQ(got.in_id, args.in.id());
            expect_same_bits(got.offset_begin, expected.offset_begin, "offset_begin");
            expect_same_bits(got.in_rows, expected.in_rows, "in_rows");
            expect_same_bits(got.out_rows, expected.out_rows, "out_rows");
            ASSERT_EQ(got.new_coordinates.defined(), expected.new_coordinates.defined());
            if (!got.new_coordinates.defined()) continue;
            EXPECT_EQ(got.out_id, got.new_coordinates.id());
            expect_same_bits(got.new_coordinates.indices(), expected.new_coordinates.indices(),
                             "new indices");
            EXPECT_EQ(got.new_coordinates.spatial_shape(), expected.new_coordinates.spatial_shape());
            EXPECT_EQ(got.new_coordinates.tensor_stride(), expected.new_coordinates.tensor_stride());
            EXPECT_EQ(got.new_coordinates.batch_size(), expected.new_coordinates.batch_size());
            EXPECT_TRUE(got.new_coordinates.is_sorted());
          }
        });
      },
      rare_maps());
}

}  // namespace
}  // namespace aerogel::testing
