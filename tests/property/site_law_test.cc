// Laws of site sets that hold whatever the sites: inverses, inclusions, and dense arrays as the judge.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/sites.h"

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

struct Drawn {
  Random random;
  Coordinates sites;
  Dims factor;
  DType dtype;

  explicit Drawn(const ProblemString& problem)
      : random(static_cast<std::uint64_t>(problem.integer("seed"))),
        factor(problem.dims("factor")),
        dtype(dtype_of(problem)) {
    sites = sites_of(problem, random);
  }
  SparseTensor features(std::int64_t channels) {
    return {signed_tensor(random, {sites.size(), channels}, dtype), sites};
  }
  Tensor mask(const Dims& shape) {
    Tensor keep = Tensor::empty(shape, DType::kBool);
    std::generate_n(keep.mutable_data<bool>(), keep.numel(), [&] { return random.integer(0, 2) > 0; });
    return keep;
  }
};

void for_each_set(const char* name, int count, const std::function<void(Drawn&)>& check) {
  for_each_problem(
      name, count,
      [name](Random& random) {
        Dims shape;
        Dims factor;
        for (std::int64_t axis = random.integer(1, 4); axis > 0; --axis) {
          shape.push_back(random.integer(1, axis > 2 ? 6 : 30));
          factor.push_back(random.integer(1, 3));
        }
        return fmt::format("{}:{}:shape={}:factor={}:batch={}:n={}:order={}:seed={}", name,
                           random_dtype(random), shape.joined('x'), factor.joined('x'), random.integer(1, 3),
                           random.integer(0, 9) ? random.integer(1, 300) : 0,
                           random.integer(0, 1) ? "sorted" : "shuffled", random.integer(0, 1 << 30));
      },
      [&](const ProblemString& problem) {
        Drawn drawn(problem);
        check(drawn);
      });
}

void expect_same(const SparseTensor& a, const SparseTensor& b, const char* what) {
  expect_same_bits(a.coordinates.indices(), b.coordinates.indices(), what);
  EXPECT_EQ(a.coordinates.spatial_shape(), b.coordinates.spatial_shape()) << what;
  EXPECT_EQ(a.coordinates.batch_size(), b.coordinates.batch_size()) << what;
  expect_same_bits(a.features.contiguous(), b.features.contiguous(), what);
}

std::set<std::vector<std::int32_t>> set_of(const Coordinates& sites) {
  std::set<std::vector<std::int32_t>> rows;
  for (std::int64_t i = 0; i < sites.size(); ++i)
    rows.insert({sites.row(i), sites.row(i) + 1 + sites.ndim()});
  return rows;
}

TEST(SiteLaw, ChannelToSpaceUndoesSpaceToChannel) {
  for_each_set("space_to_channel_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(3);
    const SparseTensor packed = space_to_channel(in, drawn.factor);
    EXPECT_EQ(packed.channels(), 3 * drawn.factor.product());
    expect_same(channel_to_space_onto(packed, in.coordinates, drawn.factor), in, "back on the same sites");
  });
}

TEST(SiteLaw, SpaceToChannelUndoesChannelToSpace) {
  for_each_set("channel_to_space_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(2 * drawn.factor.product());
    const SparseTensor back = space_to_channel(channel_to_space(in, drawn.factor), drawn.factor);
    expect_same(sort_rows(back), sort_rows(in), "packed again");
  });
}

TEST(SiteLaw, DownsamplingUndoesSubdivision) {
  for_each_set("subdivide_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(2);
    const SparseTensor fine = subdivide(in, drawn.factor);
    EXPECT_EQ(fine.sites(), in.sites() * drawn.factor.product());
    for (const Reduce reduce : {Reduce::kMax, Reduce::kFirst}) {
      expect_same(sort_rows(downsample(fine, drawn.factor, reduce)), sort_rows(in), "the same again");
    }
    // Sums of k equal values divided by k: each addition rounds, at most 81 of them.
    const SparseTensor mean = sort_rows(downsample(fine, drawn.factor, Reduce::kMean));
    const std::vector<double> expected = doubles(sort_rows(in).features);
    std::vector<double> bound;
    for (const double value : expected)
      bound.push_back(90 * 0x1p-24 * std::abs(value) + rounding_of(drawn.dtype, value) + 0x1p-140);
    expect_within(mean.features, expected, bound);
  });
}

TEST(SiteLaw, UpsamplingGivesBackAPartOfTheSubdivision) {
  for_each_set("upsample_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(2);
    const SparseTensor some = subdivide(in, drawn.factor, drawn.mask({in.sites(), drawn.factor.product()}));
    expect_same(upsample(in, some.coordinates, drawn.factor), some, "onto its own children");
  });
}

TEST(SiteLaw, SplitUndoesJoin) {
  for_each_set("batch_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(2);
    const std::vector<SparseTensor> items = batch_split(in);
    if (items.empty()) return;
    expect_same(batch_join(items), sort_rows(in), "joined again");
    const std::vector<SparseTensor> again = batch_split(batch_join(items));
    for (std::size_t i = 0; i < items.size(); ++i) expect_same(again[i], items[i], "an item");
  });
}

TEST(SiteLaw, IntersectionLiesInBothAndBothLieInTheUnion) {
  for_each_set("union_law", 60, [](Drawn& drawn) {
    const SparseTensor a = drawn.features(2);
    const Coordinates& set = a.coordinates;
    const Coordinates other = random_sites(drawn.random, set.spatial_shape(), set.batch_size(), 100, false);
    const SparseTensor b{signed_tensor(drawn.random, {other.size(), 3}, drawn.dtype), other};
    const SparseTensor parts[] = {a, b};
    const auto both = set_of(concat_intersection(a, b).coordinates);
    const auto all = set_of(concat_union(parts).coordinates);
    const auto of_a = set_of(a.coordinates);
    const auto of_b = set_of(b.coordinates);
    EXPECT_TRUE(std::includes(of_a.begin(), of_a.end(), both.begin(), both.end()));
    EXPECT_TRUE(std::includes(of_b.begin(), of_b.end(), both.begin(), both.end()));
    EXPECT_TRUE(std::includes(all.begin(), all.end(), of_a.begin(), of_a.end()));
    EXPECT_EQ(both.size() + all.size(), of_a.size() + of_b.size());
    // Dense, the union's channels are the parts'.
    const auto dense = [](const SparseTensor& x) { return doubles(to_dense(x, DenseLayout::kChannelsLast)); };
    const std::vector<double> whole = dense(concat_union(parts));
    const std::vector<double> left = dense(a);
    const std::vector<double> right = dense(b);
    for (std::size_t cell = 0; cell < left.size() / 2; ++cell) {
      for (std::size_t c = 0; c < 5; ++c)
        ASSERT_EQ(whole[cell * 5 + c], c < 2 ? left[cell * 2 + c] : right[cell * 3 + c - 2]);
    }
  });
}

TEST(SiteLaw, PruneAndItsComplementMakeTheWhole) {
  for_each_set("prune_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(2);
    const Tensor keep = drawn.mask({in.sites()});
    Tensor others = Tensor::empty({in.sites()}, DType::kBool);
    std::transform(keep.data<bool>(), keep.data<bool>() + keep.numel(), others.mutable_data<bool>(),
                   std::logical_not<>());
    expect_same(add_union(prune(in, keep), prune(in, others)), sort_rows(in), "both parts");
  });
}

TEST(SiteLaw, CropIsASliceOfTheDenseArray) {
  for_each_set("crop_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(1);
    const Dims& shape = in.coordinates.spatial_shape();
    Dims lo;
    Dims hi;
    for (const std::int64_t extent : shape) {
      lo.push_back(drawn.random.integer(0, extent - 1));
      hi.push_back(drawn.random.integer(lo[lo.size() - 1] + 1, extent));
    }
    const std::vector<double> part = doubles(to_dense(crop(in, lo, hi)));
    const std::vector<double> whole = doubles(to_dense(in));
    std::size_t at = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      bool inside = true;
      for (int axis = shape.size() - 1; axis >= 0; --axis) {
        const std::int64_t c = rest % shape[axis];
        inside = inside && c >= lo[axis] && c < hi[axis];
        rest /= shape[axis];
      }
      if (!inside) continue;
      ASSERT_EQ(part.at(at++), whole[i]);
    }
    EXPECT_EQ(at, part.size());
  });
}

TEST(SiteLaw, BirdsEyeViewsAreDenseSumsOverTheAxis) {
  for_each_set("bev_law", 60, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(1);
    const Dims& shape = in.coordinates.spatial_shape();
    if (shape.size() < 2) return;
    const int axis = static_cast<int>(drawn.random.integer(0, shape.size() - 1));
    std::int64_t inner = 1;
    for (int i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
    const std::vector<double> whole = doubles(to_dense(in));
    const std::vector<double> flat = doubles(to_dense(bev(in, axis)));
    std::vector<double> sums(flat.size());
    std::vector<double> bound(flat.size(), 0x1p-140);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const auto cell = static_cast<std::int64_t>(i);
      const auto to = static_cast<std::size_t>(cell / inner / shape[axis] * inner + cell % inner);
      sums[to] += whole[i];
      bound[to] += 32 * 0x1p-24 * std::abs(whole[i]);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) bound[i] += rounding_of(drawn.dtype, sums[i]);
    expect_within(to_dense(bev(in, axis)), sums, bound);
  });
}

TEST(SiteLaw, EveryVerbGivesTheSameBitsForAnyThreadCount) {
  for_each_set("threads_law", 20, [](Drawn& drawn) {
    const SparseTensor in = drawn.features(drawn.factor.product());
    std::vector<SparseTensor> results[2];
    for (const int threads : {1, 3}) {
      ExecOptions exec;
      exec.threads = threads;
      const Coordinates fresh = Coordinates::create(in.coordinates.indices(), in.coordinates.spatial_shape(),
                                                    in.coordinates.batch_size());  // without maps yet
      const SparseTensor x{in.features, fresh};
      const SparseTensor down = downsample(x, drawn.factor, Reduce::kMean, exec);
      results[threads == 3] = {down,
                               upsample(down, fresh, drawn.factor, exec),
                               subdivide(x, drawn.factor, {}, exec),
                               space_to_channel(x, drawn.factor, exec),
                               channel_to_space(x, drawn.factor, {}, exec),
                               sort_rows(x, exec)};
    }
    for (std::size_t i = 0; i < results[0].size(); ++i)
      expect_same(results[1][i], results[0][i], "three threads");
  });
}

}  // namespace
}  // namespace aerogel::testing
