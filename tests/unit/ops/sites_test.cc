// Verbs on site sets with values worked out by hand, on both backends; what they refuse; sizes of dry runs.
#include "aerogel/ops/sites.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/elementwise.h"

#include "unit/backend/reference/by_hand.h"

namespace aerogel {
namespace {

Ints rows(const SparseTensor& tensor) { return values<std::int32_t>(tensor.coordinates.indices()); }
Floats features(const SparseTensor& tensor) { return values<float>(tensor.features); }

Tensor mask(const Dims& shape, const std::vector<int>& bits) {
  Tensor result = Tensor::empty(shape, DType::kBool);
  std::transform(bits.begin(), bits.end(), result.mutable_data<bool>(), [](int bit) { return bit != 0; });
  return result;
}

/// Four sites of a 4 × 6 grid in two items, not sorted; features 1 to 4.
SparseTensor scattered() {
  return {floats({4, 1}, {1, 2, 3, 4}), sites({1, 0, 0, 0, 3, 5, 0, 1, 2, 0, 1, 3}, {4, 6}, 2)};
}

TEST(Sites, Prune) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor out = prune(scattered(), mask({4}, {1, 0, 1, 1}), exec);
    EXPECT_EQ(rows(out), (Ints{0, 1, 2, 0, 1, 3, 1, 0, 0}));
    EXPECT_EQ(features(out), (Floats{3, 4, 1}));
    EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{4, 6}));
    EXPECT_EQ(out.coordinates.batch_size(), 2);
    EXPECT_EQ(prune(scattered(), mask({4}, {0, 0, 0, 0}), exec).features.str(), "f32 [0, 1]");
  });
}

TEST(Sites, Crop) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor out = crop(scattered(), {1, 2}, {4, 5}, exec);  // leaves (3, 5) and (0, 0)
    EXPECT_EQ(rows(out), (Ints{0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(features(out), (Floats{3, 4}));
    EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{3, 3}));
  });
}

TEST(Sites, SortRows) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor out = sort_rows(scattered(), exec);
    EXPECT_EQ(rows(out), (Ints{0, 1, 2, 0, 1, 3, 0, 3, 5, 1, 0, 0}));
    EXPECT_EQ(features(out), (Floats{3, 4, 2, 1}));
    EXPECT_EQ(sort_rows(out, exec).coordinates, out.coordinates);
  });
}

TEST(Sites, ScaleCoordinates) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor coarse = downsample(line({1, 2, 4}), {2}, Reduce::kSum, exec);  // sites 0 and 1 of 3
    EXPECT_EQ(coarse.coordinates.tensor_stride(), (Dims{2}));
    const SparseTensor out = scale_coordinates(coarse, {2}, {5}, exec);
    EXPECT_EQ(rows(out), (Ints{0, 0, 0, 2}));
    EXPECT_EQ(features(out), (Floats{3, 4}));
    EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{5}));
    EXPECT_EQ(out.coordinates.tensor_stride(), (Dims{1}));
    EXPECT_EQ(scale_coordinates(scattered(), {3, 2}, {}, exec).coordinates.spatial_shape(), (Dims{12, 12}));
    EXPECT_EQ(rows(scale_coordinates(scattered(), {3, 2}, {}, exec)),
              (Ints{0, 3, 4, 0, 3, 6, 0, 9, 10, 1, 0, 0}));
  });
}

TEST(Sites, BatchJoinAndSplit) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor parts[] = {line({1, 2, 3}),
                                  {floats({0, 1}, {}), sites({}, {5}, 2)},
                                  {floats({2, 1}, {7, 8}), sites({0, 4, 0, 0}, {5}, 1)}};
    const SparseTensor joined = batch_join(parts, exec);
    EXPECT_EQ(rows(joined), (Ints{0, 0, 0, 1, 0, 3, 3, 0, 3, 4}));
    EXPECT_EQ(features(joined), (Floats{1, 2, 3, 8, 7}));
    EXPECT_EQ(joined.coordinates.batch_size(), 4);
    const std::vector<SparseTensor> items = batch_split(joined, exec);
    ASSERT_EQ(items.size(), 4u);
    EXPECT_EQ(rows(items[0]), (Ints{0, 0, 0, 1, 0, 3}));
    EXPECT_EQ(items[1].sites() + items[2].sites(), 0);
    EXPECT_EQ(rows(items[3]), (Ints{0, 0, 0, 4}));
    EXPECT_EQ(features(items[3]), (Floats{8, 7}));
  });
}

TEST(Sites, ConcatUnion) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor a{floats({2, 1}, {1, 2}), sites({0, 3, 0, 0}, {5}, 1)};
    const SparseTensor b{floats({2, 2}, {10, 11, 20, 21}), sites({0, 3, 0, 1}, {5}, 1)};
    const SparseTensor c{floats({1, 1}, {5}), sites({0, 4}, {5}, 1)};
    const SparseTensor parts[] = {a, b, c};
    const SparseTensor out = concat_union(parts, exec);
    EXPECT_EQ(rows(out), (Ints{0, 0, 0, 1, 0, 3, 0, 4}));
    EXPECT_EQ(features(out), (Floats{2, 0, 0, 0,    //
                                     0, 20, 21, 0,  //
                                     1, 10, 11, 0,  //
                                     0, 0, 0, 5}));
    const SparseTensor same[] = {a, a};
    EXPECT_EQ(concat_union(same, exec).coordinates, a.coordinates);
  });
}

TEST(Sites, Intersections) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor a{floats({3, 1}, {1, 2, 3}), sites({0, 3, 0, 0, 1, 1}, {5}, 2)};
    const SparseTensor b{floats({3, 1}, {10, 20, 30}), sites({0, 3, 0, 1, 1, 1}, {5}, 2)};
    EXPECT_EQ(rows(concat_intersection(a, b, exec)), (Ints{0, 3, 1, 1}));
    EXPECT_EQ(features(concat_intersection(a, b, exec)), (Floats{1, 10, 3, 30}));
    EXPECT_EQ(rows(add_intersection(a, b, exec)), (Ints{0, 3, 1, 1}));
    EXPECT_EQ(features(add_intersection(a, b, exec)), (Floats{11, 33}));
  });
}

TEST(Sites, Downsample) {
  on_both_backends([](const ExecOptions& exec) {
    // 5 cells in blocks of 3: (0, 1, 2) with 1 and 5, and (3, 4) with −4: the last block is cut off.
    const SparseTensor in{floats({3, 1}, {-4, 5, 1}), sites({0, 4, 0, 2, 0, 1}, {5}, 1)};
    const auto down = [&](Reduce reduce) { return downsample(in, {3}, reduce, exec); };
    EXPECT_EQ(rows(down(Reduce::kMean)), (Ints{0, 0, 0, 1}));
    EXPECT_EQ(down(Reduce::kMean).coordinates.spatial_shape(), (Dims{2}));
    EXPECT_EQ(down(Reduce::kMean).coordinates.tensor_stride(), (Dims{3}));
    EXPECT_EQ(features(down(Reduce::kMean)), (Floats{3, -4}));
    EXPECT_EQ(features(down(Reduce::kMax)), (Floats{5, -4}));
    EXPECT_EQ(features(down(Reduce::kSum)), (Floats{6, -4}));
    EXPECT_EQ(features(down(Reduce::kFirst)), (Floats{1, -4}));  // cell 1 comes before cell 2
  });
}

TEST(Sites, SubdivideAndUpsample) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in{floats({2, 1}, {1, 2}), sites({0, 1, 1, 0, 0, 1}, {2, 2}, 1)};
    const SparseTensor all = subdivide(in, {}, {}, exec);
    EXPECT_EQ(rows(all), (Ints{0, 0, 2, 0, 0, 3, 0, 1, 2, 0, 1, 3, 0, 2, 2, 0, 2, 3, 0, 3, 2, 0, 3, 3}));
    EXPECT_EQ(features(all), (Floats{2, 2, 2, 2, 1, 1, 1, 1}));
    EXPECT_EQ(all.coordinates.spatial_shape(), (Dims{4, 4}));
    // Children count (0,0) (0,1) (1,0) (1,1): of row 0 the second, of row 1 the third.
    const SparseTensor some = subdivide(in, {2, 2}, mask({2, 4}, {0, 1, 0, 0, 0, 0, 1, 0}), exec);
    EXPECT_EQ(rows(some), (Ints{0, 1, 2, 0, 2, 3}));
    EXPECT_EQ(features(some), (Floats{2, 1}));
    EXPECT_EQ(features(upsample(in, some.coordinates, {}, exec)), (Floats{2, 1}));
    EXPECT_EQ(upsample(in, some.coordinates, {}, exec).coordinates, some.coordinates);
  });
}

TEST(Sites, SpaceToChannelAndBack) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in{floats({3, 2}, {1, 2, 3, 4, 5, 6}), sites({0, 1, 0, 0, 0, 1, 0, 2, 2}, {3, 3}, 1)};
    const SparseTensor packed = space_to_channel(in, {}, exec);
    EXPECT_EQ(rows(packed), (Ints{0, 0, 0, 0, 1, 1}));
    EXPECT_EQ(features(packed), (Floats{0, 0, 3, 4, 1, 2, 0, 0,  //
                                        5, 6, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(packed.coordinates.spatial_shape(), (Dims{2, 2}));
    const SparseTensor back = channel_to_space_onto(packed, in.coordinates, {}, exec);
    EXPECT_EQ(features(back), features(in));
    const SparseTensor kept = channel_to_space(packed, {}, mask({2, 4}, {0, 1, 1, 0, 1, 0, 0, 0}), exec);
    EXPECT_EQ(rows(kept), (Ints{0, 0, 1, 0, 1, 0, 0, 2, 2}));
    EXPECT_EQ(features(kept), (Floats{3, 4, 1, 2, 5, 6}));
    EXPECT_EQ(channel_to_space(packed, {}, {}, exec).sites(), 8);
  });
}

TEST(Sites, BirdsEyeView) {
  on_both_backends([](const ExecOptions& exec) {
    const SparseTensor in{floats({4, 1}, {1, 2, -3, 4}),
                          sites({0, 2, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1}, {3, 2, 2}, 2)};
    const SparseTensor sum = bev(in, 0, Reduce::kSum, exec);
    EXPECT_EQ(rows(sum), (Ints{0, 0, 1, 0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(features(sum), (Floats{3, -3, 4}));
    EXPECT_EQ(sum.coordinates.spatial_shape(), (Dims{2, 2}));
    EXPECT_EQ(features(bev(in, 0, Reduce::kMax, exec)), (Floats{2, -3, 4}));
    EXPECT_EQ(rows(bev(in, 2, Reduce::kMax, exec)), (Ints{0, 0, 0, 0, 1, 1, 0, 2, 0, 1, 0, 0}));
    const SparseTensor two{floats({2, 2}, {1, 5, 2, 6}), sites({0, 1, 0, 1, 0, 0, 1, 0}, {2, 2, 2}, 1)};
    const Tensor dense = bev_dense(two, exec);  // channel c · D + d
    EXPECT_EQ(dense.shape(), (Dims{1, 4, 2, 2}));
    EXPECT_EQ(values<float>(dense), (Floats{0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 6, 0, 0, 5, 0, 0}));
  });
}

TEST(Sites, ATallBirdsEyeViewGoesInSteps) {
  const SparseTensor in{floats({3, 1}, {1, 2, 4}), sites({0, 0, 1, 0, 4999, 1, 0, 77, 0}, {5000, 2}, 1)};
  EXPECT_EQ(rows(bev(in)), (Ints{0, 0, 0, 1}));
  EXPECT_EQ(features(bev(in)), (Floats{4, 3}));
  const SparseTensor flat{floats({2, 1}, {1, 2}), sites({0, 0, 1, 0, 0, 0}, {1, 2}, 1)};  // not sorted
  EXPECT_EQ(features(bev(flat)), (Floats{2, 1}));
}

TEST(Sites, BlocksShareTheirMapWithConvolutions) {
  const SparseTensor in = line({1, 2, 4});
  const SparseTensor coarse = downsample(in, {2});
  EXPECT_EQ(space_to_channel(in, {2}).coordinates, coarse.coordinates);
  EXPECT_EQ(features(upsample(coarse, in.coordinates, {2})), (Floats{1.5, 1.5, 4}));
  ConvOptions blocks;
  blocks.stride = {2};
  blocks.sites = SiteRule::kBlocks;
  const SparseTensor conv = sparse_conv(in, floats({1, 2, 1}, {1, 10}), blocks);
  EXPECT_EQ(conv.coordinates, coarse.coordinates);
  EXPECT_EQ(features(conv), (Floats{1 + 20, 40}));
  EXPECT_EQ(in.coordinates.map_stats().builds, 1);
}

TEST(Sites, NoSites) {
  const SparseTensor none{floats({0, 8}, {}), sites({}, {4, 4, 4}, 2)};
  EXPECT_EQ(prune(none, mask({0}, {})).sites(), 0);
  EXPECT_EQ(crop(none, {0, 0, 0}, {1, 2, 3}).coordinates.spatial_shape(), (Dims{1, 2, 3}));
  EXPECT_EQ(downsample(none).coordinates.spatial_shape(), (Dims{2, 2, 2}));
  EXPECT_EQ(subdivide(none).coordinates.spatial_shape(), (Dims{8, 8, 8}));
  EXPECT_EQ(space_to_channel(none).features.str(), "f32 [0, 64]");
  EXPECT_EQ(channel_to_space(none).features.str(), "f32 [0, 1]");
  EXPECT_EQ(batch_split(none).size(), 2u);
  EXPECT_EQ(bev(none).features.str(), "f32 [0, 8]");
  const SparseTensor parts[] = {none, none};
  EXPECT_EQ(batch_join(parts).coordinates.batch_size(), 4);
  EXPECT_EQ(add_intersection(none, none).sites(), 0);
}

TEST(Sites, HalfFeaturesKeepTheirDtype) {
  const SparseTensor in{line({1, 2, 4}).features.to(DType::kBF16), line({1, 2, 4}).coordinates};
  EXPECT_EQ(downsample(in, {2}).features.str(), "bf16 [2, 1]");
  EXPECT_EQ(subdivide(in, {2}).features.str(), "bf16 [6, 1]");
  EXPECT_EQ(space_to_channel(in, {2}).features.str(), "bf16 [2, 2]");
  EXPECT_EQ(concat_intersection(in, in).features.str(), "bf16 [3, 2]");
  EXPECT_EQ(values<float>(add_intersection(in, in).features.to(DType::kF32)), (Floats{2, 4, 8}));
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}
#define EXPECT_REFUSAL(call, text)                                                   \
  EXPECT_NE(refusal([&] { static_cast<void>(call); }).find(text), std::string::npos) \
      << refusal([&] { static_cast<void>(call); })

TEST(Sites, Refusals) {
  const SparseTensor in = line({1, 2, 3});
  EXPECT_REFUSAL(prune(in, mask({2}, {1, 1})), "keep must be bool [3]");
  EXPECT_REFUSAL(prune(in, floats({3}, {1, 1, 1})), "keep must be bool [3]");
  EXPECT_REFUSAL(prune({}, mask({2}, {1, 1})), "no coordinates");
  EXPECT_REFUSAL(crop(in, {2}, {2}), "0 <= lo < hi <= 5 on axis 0");
  EXPECT_REFUSAL(crop(in, {0}, {6}), "0 <= lo < hi <= 5 on axis 0");
  EXPECT_REFUSAL(crop(in, {0, 0}, {6}), "lo must have 1 values");
  EXPECT_REFUSAL(scale_coordinates(in, {0}), "must be 1 to");
  EXPECT_REFUSAL(scale_coordinates(in, {2}, {6}), "coordinate 3 times 2 lies outside the extent 6");
  EXPECT_REFUSAL(batch_join({}), "at least one part");
  EXPECT_REFUSAL(concat_union({}), "at least one part");
  const SparseTensor other{floats({1, 1}, {1}), sites({0, 0}, {6}, 1)};
  const SparseTensor parts[] = {in, other};
  EXPECT_REFUSAL(batch_join(parts), "spatial shapes must agree");
  EXPECT_REFUSAL(concat_union(parts), "must agree");
  EXPECT_REFUSAL(add_intersection(in, {floats({3, 2}, {1, 1, 1, 1, 1, 1}), in.coordinates}),
                 "channels must agree");
  EXPECT_REFUSAL(downsample(in, {2, 2}), "factor must have 1 values");
  EXPECT_REFUSAL(downsample(in, {0}), "must be at least 1");
  EXPECT_REFUSAL(subdivide(in, {2}, mask({3}, {1, 1, 1})), "keep must be bool [3, 2]");
  EXPECT_REFUSAL(channel_to_space(in, {2}), "2 children must divide C=1");
  EXPECT_REFUSAL(upsample(in, sites({0, 4}, {10}, 1), {2}), "row 0 of the target has no parent");
  EXPECT_REFUSAL(upsample(in, sites({0, 4}, {10}, 2), {2}), "batch size");
  EXPECT_REFUSAL(bev(in), "2 or more spatial columns");
  EXPECT_REFUSAL(bev(scattered(), 2), "axis 0 to 1");
  EXPECT_REFUSAL(bev(scattered(), 0, Reduce::kMean), "summed or their maximum");
  EXPECT_REFUSAL(bev_dense(scattered()), "3 spatial columns");
}

TEST(Sites, ADryRunPlansThePeakThatTheRunMeets) {
  const auto peak = [](bool dry) {
    const SparseTensor a{floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), sites({0, 1, 1, 0, 0, 1}, {2, 2}, 1)};
    const SparseTensor b{floats({1, 4}, {1, 2, 3, 4}), sites({0, 1, 0}, {2, 2}, 1)};
    ExecOptions exec;
    exec.dry_run = dry;
    exec.meter = std::make_shared<MemoryMeter>();
    const SparseTensor parts[] = {a, b};
    SparseTensor x = concat_union(parts, exec);
    x = subdivide(x, {}, mask({3, 4}, {1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1}), exec);
    x = space_to_channel(x, {}, exec);
    x = prune(x, mask({3}, {1, 0, 1}), exec);
    x = channel_to_space(x, {}, {}, exec);
    x = downsample(x, {}, Reduce::kFirst, exec);
    EXPECT_EQ(x.features.has_data(), !dry);
    return exec.meter->peak_bytes();
  };
  EXPECT_EQ(peak(true), peak(false));
  EXPECT_GT(peak(true), 0);
}

}  // namespace
}  // namespace aerogel
