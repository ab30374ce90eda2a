// The map builder against the definition: ordered maps from site to row, every offset of every site.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "aerogel/kernel_map.h"

#include "backend/cpu/op_kernels.h"

namespace aerogel {
namespace {

using Site = std::vector<std::int32_t>;                             // batch, columns
using Pair = std::tuple<std::int64_t, std::int32_t, std::int32_t>;  // offset, output row, input row

/// N distinct sites near `centre` (or anywhere when spread is 0), in random or sorted order.
Coordinates random_set(std::mt19937& random, std::int64_t n, const Dims& shape, std::int64_t batch,
                       bool sorted, std::int64_t spread = 0) {
  std::set<Site> sites;
  for (std::int64_t tries = 0; tries < 20 * n && std::ssize(sites) < n; ++tries) {
    Site site{static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(batch))};
    for (std::int64_t extent : shape) {
      const std::int64_t range = spread > 0 ? std::min(spread, extent) : extent;
      const std::int64_t from_end = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range));
      site.push_back(static_cast<std::int32_t>(random() % 2 == 0 ? from_end : extent - 1 - from_end));
    }
    sites.insert(site);
  }
  std::vector<Site> rows(sites.begin(), sites.end());
  if (!sorted) std::shuffle(rows.begin(), rows.end(), random);
  std::vector<std::int32_t> flat;
  for (const Site& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return Coordinates::create(Tensor::from<std::int32_t>({std::ssize(rows), 1 + shape.size()}, flat), shape,
                             batch);
}

Site site_of(const Coordinates& set, std::int64_t row) {
  return {set.row(row), set.row(row) + 1 + set.ndim()};
}

/// The site that `from` meets through the taps of one offset, seen from the coarse or from the fine side.
bool meets(const KernelSpec& spec, const Dims& tap, bool from_is_fine, const Dims& extent, const Site& from,
           Site& to) {
  to = from;
  for (int axis = 0; axis < spec.ndim(); ++axis) {
    const std::int64_t shift = spec.dilation[axis] * tap[axis] - spec.padding[axis];
    const std::int64_t value = from[1 + axis];
    if (from_is_fine && (value - shift) % spec.stride[axis] != 0) return false;
    const std::int64_t moved =
        from_is_fine ? (value - shift) / spec.stride[axis] : value * spec.stride[axis] + shift;
    if (moved < 0 || moved >= extent[axis]) return false;
    to[1 + axis] = static_cast<std::int32_t>(moved);
  }
  return true;
}

void check(const Coordinates& in, const KernelSpec& spec, const std::string& what) {
  SCOPED_TRACE(what + " " + spec.str() + " on " + in.spatial_shape().str() +
               " N=" + std::to_string(in.size()));
  const bool submanifold = spec.kind == ConvKind::kSubmanifold;
  const Dims out_shape = spec.output_shape(in.spatial_shape());
  const bool in_is_fine = spec.kind == ConvKind::kRegular;

  std::vector<std::vector<std::pair<Site, std::int32_t>>> reached(static_cast<std::size_t>(spec.volume()));
  std::map<Site, std::int32_t> out_row;
  for (std::int64_t k = 0; k < spec.volume(); ++k) {
    Dims tap = spec.kernel;
    std::int64_t rest = k;
    for (int axis = spec.ndim() - 1; axis >= 0; --axis) {
      tap[axis] = rest % spec.kernel[axis];
      rest /= spec.kernel[axis];
    }
    // A submanifold input feeds the output at in − shift: the mirrored tap of a centred window.
    if (submanifold) {
      for (int axis = 0; axis < spec.ndim(); ++axis) tap[axis] = spec.kernel[axis] - 1 - tap[axis];
    }
    for (std::int64_t i = 0; i < in.size(); ++i) {
      Site to;
      if (!meets(spec, tap, in_is_fine, out_shape, site_of(in, i), to)) continue;
      reached[static_cast<std::size_t>(k)].emplace_back(to, static_cast<std::int32_t>(i));
      if (!submanifold) out_row.emplace(to, 0);
    }
  }
  std::int32_t next = 0;
  for (auto& [site, row] : out_row) row = next++;
  if (submanifold) {
    for (std::int64_t i = 0; i < in.size(); ++i) out_row[site_of(in, i)] = static_cast<std::int32_t>(i);
  }
  std::vector<Pair> expected;
  for (std::int64_t k = 0; k < spec.volume(); ++k) {
    for (const auto& [site, i] : reached[static_cast<std::size_t>(k)]) {
      const auto found = out_row.find(site);
      if (found != out_row.end()) expected.emplace_back(k, found->second, i);
    }
  }
  std::sort(expected.begin(), expected.end());

  for (int threads : {1, 3}) {
    KernelMap map;
    const MapArgs args{in, spec, threads, &map};
    ASSERT_EQ(cpu::kBuildKernelMapSortedMerge.supports(args), "");
    cpu::kBuildKernelMapSortedMerge.run(args);
    ASSERT_EQ(map.offset_begin.shape(), Dims({spec.volume() + 1}));
    const auto* begin = map.offset_begin.data<std::int64_t>();
    ASSERT_EQ(begin[0], 0);
    ASSERT_EQ(begin[spec.volume()], map.pairs());
    ASSERT_EQ(map.out_rows.numel(), map.pairs());
    std::vector<Pair> pairs;
    for (std::int64_t k = 0; k < spec.volume(); ++k) {
      for (std::int64_t p = begin[k]; p < begin[k + 1]; ++p) {
        pairs.emplace_back(k, map.out_rows.data<std::int32_t>()[p], map.in_rows.data<std::int32_t>()[p]);
      }
    }
    ASSERT_TRUE(pairs == expected) << "threads " << threads << ", pairs " << pairs.size() << " of "
                                   << expected.size();
    EXPECT_EQ(map.n_in, in.size());
    EXPECT_EQ(map.n_out, std::ssize(out_row));
    EXPECT_EQ(map.in_id, in.id());
    EXPECT_EQ(map.new_coordinates.defined(), !submanifold);
    EXPECT_TRUE(map.spec == spec);
    if (submanifold) {
      EXPECT_EQ(map.out_id, in.id());
      continue;
    }
    const Coordinates& out = map.new_coordinates;
    EXPECT_EQ(map.out_id, out.id());
    EXPECT_EQ(out.spatial_shape(), out_shape);
    EXPECT_EQ(out.batch_size(), in.batch_size());
    EXPECT_TRUE(out.is_sorted());
    std::vector<Site> sites;
    for (std::int64_t o = 0; o < out.size(); ++o) sites.push_back(site_of(out, o));
    ASSERT_EQ(std::ssize(sites), std::ssize(out_row));
    EXPECT_TRUE(std::equal(sites.begin(), sites.end(), out_row.begin(),
                           [](const auto& a, const auto& b) { return a == b.first; }));
  }
}

std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

TEST(BuildKernelMapSortedMerge, RandomGeometriesMatchTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const int ndim = 1 + round % 4;
    const ConvKind kind = static_cast<ConvKind>(round / 4 % 3);
    Dims shape, kernel, stride, padding, dilation, output_padding;
    for (int axis = 0; axis < ndim; ++axis) {
      shape.push_back(pick(random, 1, ndim == 1 ? 300 : ndim == 2 ? 60 : ndim == 3 ? 20 : 7));
      std::int64_t size = pick(random, 1, ndim == 4 ? 3 : 4);
      if (kind == ConvKind::kSubmanifold) size |= 1;
      kernel.push_back(size);
      dilation.push_back(pick(random, 1, 3));
      if (kind == ConvKind::kSubmanifold) continue;
      stride.push_back(pick(random, 1, 3));
      padding.push_back(pick(random, 0, 3));
      if (kind == ConvKind::kTransposed) output_padding.push_back(pick(random, 0, 2));
    }
    const KernelSpec spec = KernelSpec::make(kind, kernel, stride, padding, dilation, output_padding);
    const std::int64_t batch = pick(random, 1, 3);
    const Coordinates in = random_set(random, pick(random, 0, 400), shape, batch, round % 3 == 0);
    bool legal = true;
    try {
      spec.output_shape(shape);
    } catch (const std::exception&) {
      legal = false;
    }
    if (legal) check(in, spec, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

TEST(BuildKernelMapSortedMerge, ManyRowsCrossChunksAndTiles) {
  std::mt19937 random(8);
  for (bool sorted : {true, false}) {
    const Coordinates in = random_set(random, 30000, {40, 70, 100}, 2, sorted);
    check(in, KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3}), "subm");
    check(in, KernelSpec::make(ConvKind::kRegular, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}), "regular");
    check(in, KernelSpec::make(ConvKind::kTransposed, {2, 2, 2}, {2, 2, 2}), "transposed");
  }
}

TEST(BuildKernelMapSortedMerge, MoreThan128OffsetsAndLongWindows) {
  std::mt19937 random(9);
  for (bool sorted : {true, false}) {
    const Coordinates cube = random_set(random, 300, {9, 9, 9}, 2, sorted);
    check(cube, KernelSpec::make(ConvKind::kSubmanifold, {7, 5, 7}), "subm");
    check(cube, KernelSpec::make(ConvKind::kRegular, {6, 5, 6}, {2, 1, 3}, {3, 0, 2}), "regular");
    check(cube, KernelSpec::make(ConvKind::kTransposed, {6, 5, 6}, {1, 2, 3}, {1, 1, 1}), "transposed");
    const Coordinates line = random_set(random, 200, {500}, 2, sorted);
    check(line, KernelSpec::make(ConvKind::kSubmanifold, {131}), "subm");
    check(line, KernelSpec::make(ConvKind::kSubmanifold, {5}, {}, {}, {40}), "subm");
    check(line, KernelSpec::make(ConvKind::kSubmanifold, {9}, {}, {}, {8}), "subm");
    check(line, KernelSpec::make(ConvKind::kRegular, {70}, {3}, {40}), "regular");
    check(line, KernelSpec::make(ConvKind::kRegular, {4}, {2}, {20}, {31}), "regular");
    check(line, KernelSpec::make(ConvKind::kTransposed, {70}, {40}, {7}), "transposed");
  }
}

TEST(BuildKernelMapSortedMerge, ExtentsNearTheLimitOfCoordinates) {
  std::mt19937 random(10);
  const std::int64_t most = 2147483647;
  for (bool sorted : {true, false}) {
    const Coordinates line = random_set(random, 300, {most}, 4, sorted, 100);
    check(line, KernelSpec::make(ConvKind::kSubmanifold, {5}, {}, {}, {7}), "subm");
    check(line, KernelSpec::make(ConvKind::kRegular, {3}, {2}, {1}), "regular");
    check(line, KernelSpec::make(ConvKind::kRegular, {3}, {1}, {1}), "regular");
    const Coordinates plane = random_set(random, 300, {most - 1, most / 2 - 1}, 1, sorted, 12);
    check(plane, KernelSpec::make(ConvKind::kSubmanifold, {3, 3}), "subm");
    check(plane, KernelSpec::make(ConvKind::kRegular, {3, 3}, {2, 2}, {1, 0}), "regular");
    const Coordinates half = random_set(random, 300, {most / 2, 1 << 20}, 1, sorted, 12);
    check(half, KernelSpec::make(ConvKind::kTransposed, {2, 2}, {2, 2}), "transposed");
    const Coordinates cube = random_set(random, 300, {1 << 19, 1 << 19, 1 << 19}, 2, sorted, 6);
    check(cube, KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3}), "subm");
    check(cube, KernelSpec::make(ConvKind::kRegular, {2, 2, 2}, {2, 2, 2}), "regular");
  }
}

TEST(BuildKernelMapSortedMerge, EveryInstructionSetOfThisMachine) {
  std::mt19937 random(12);
  const Coordinates in = random_set(random, 3000, {20, 30, 40}, 2, false);
  const auto supported = static_cast<std::int64_t>(hwy::SupportedTargets());
  for (std::int64_t left = supported; left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    check(in, KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3}), hwy::TargetName(left & -left));
    check(in, KernelSpec::make(ConvKind::kRegular, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 3}),
          hwy::TargetName(left & -left));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(BuildKernelMapSortedMerge, PointwiseAndEmpty) {
  std::mt19937 random(11);
  const Coordinates some = random_set(random, 50, {8, 8, 8}, 1, false);
  check(some, KernelSpec::make(ConvKind::kSubmanifold, {1, 1, 1}), "pointwise");
  check(some, KernelSpec::make(ConvKind::kRegular, {1, 1, 1}, {3, 2, 2}), "no tap hits every site");
  const Coordinates none = random_set(random, 0, {8, 8, 8}, 0 + 1, true);
  check(none, KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3}), "empty");
  check(none, KernelSpec::make(ConvKind::kRegular, {3, 3, 3}, {2, 2, 2}), "empty");
  check(none, KernelSpec::make(ConvKind::kTransposed, {3, 3, 3}, {2, 2, 2}), "empty");
  // Every site falls between the strides.
  const Coordinates odd =
      Coordinates::create(Tensor::from<std::int32_t>({2, 2}, std::vector<std::int32_t>{0, 1, 0, 3}), {8}, 1);
  check(odd, KernelSpec::make(ConvKind::kRegular, {1}, {2}), "vanished");
}

TEST(BuildKernelMapSortedMerge, RefusesKeysPast63BitsWithTheReason) {
  const Coordinates wide = Coordinates::create(Tensor::empty({0, 4}, DType::kI32),
                                               {(1 << 20) + 1, (1 << 20) + 1, (1 << 22) - 1}, 1);
  KernelMap map;
  const MapArgs args{wide, KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3}), 1, &map};
  EXPECT_NE(cpu::kBuildKernelMapSortedMerge.supports(args).find("63 bits"), std::string::npos);
}

}  // namespace
}  // namespace aerogel
