#include "grid_choice.h"

#include <gtest/gtest.h>

#include "aerogel/error.h"

namespace aerogel::cli {
namespace {

/// Points on the diagonal from lo to hi.
Cloud diagonal(double lo, double hi, std::int64_t count = 11) {
  Cloud cloud;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(count - 1);
    values.insert(values.end(), 3, static_cast<float>(lo + t * (hi - lo)));
  }
  cloud.points = Tensor::from<float>({count, 3}, values);
  cloud.lo = {lo, lo, lo};
  cloud.hi = {hi, hi, hi};
  return cloud;
}

/// A box of 100 m with voxels of 0.5 m: objects are under 100 m.
nn::NetworkInfo boxed_network(bool has_box = true) {
  nn::NetworkInfo info;
  info.has_default_box = has_box;
  for (int axis = 0; axis < 3; ++axis) {
    info.voxel[axis] = 0.5F;
    info.range[axis] = 0;
    info.range[axis + 3] = 100;
  }
  return info;
}

bool says(const GridChoice& choice, const std::string& text) {
  return choice.rule.find(text) != std::string::npos;
}

std::string refusal(const GridRequest& request) {
  try {
    choose_grid(diagonal(0, 1), nullptr, request);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(GridChoice, TakesVoxelAndRangeAsGiven) {
  const GridChoice choice = choose_grid(diagonal(0, 1), nullptr, {"0.1,0.2,0.4", "-1,-2,-4,1,2,4"});
  EXPECT_EQ(choice.grid.spatial_shape(), (Dims{20, 20, 20}));
  EXPECT_EQ(choice.grid.lo[2], -4);
  EXPECT_EQ(choice.grid.size[1], 0.2F);
  EXPECT_TRUE(says(choice, "as given"));
}

TEST(GridChoice, OneNumberIsACube) {
  const GridChoice choice = choose_grid(diagonal(0, 1), nullptr, {"0.25", "0,0,0,1,1,2"});
  EXPECT_EQ(choice.grid.spatial_shape(), (Dims{8, 4, 4}));
}

TEST(GridChoice, AVoxelAloneKeepsTheNetworksBoxIfThePointsFitIt) {
  const nn::NetworkInfo network = boxed_network();
  const GridChoice fits = choose_grid(diagonal(0, 200), &network, {"1", ""});
  EXPECT_EQ(fits.grid.spatial_shape(), (Dims{100, 100, 100}));
  EXPECT_TRUE(says(fits, "the network's box"));
  const GridChoice elsewhere = choose_grid(diagonal(1000, 1200), &network, {"1", ""});
  EXPECT_GE(elsewhere.grid.lo[0], 999);
  EXPECT_TRUE(says(elsewhere, "the cloud's own box"));
}

TEST(GridChoice, SyntheticSetsKeepTheirCells) {
  Cloud cloud = diagonal(0, 1);
  cloud.own_grid = OwnGrid{{0, 0, 0}, {1, 1, 1}, {0.125, 0.125, 0.125}};
  const nn::NetworkInfo network = boxed_network();
  EXPECT_EQ(choose_grid(cloud, &network, {}).grid.spatial_shape(), (Dims{8, 8, 8}));
  EXPECT_EQ(choose_grid(cloud, &network, {"0.5", "0,0,0,1,1,1"}).grid.spatial_shape(), (Dims{2, 2, 2}));
}

TEST(GridChoice, ObjectsGetTwoHundredCellsAlongTheLongestSide) {
  const nn::NetworkInfo network = boxed_network();
  const GridChoice choice = choose_grid(diagonal(2, 4), &network, {});
  EXPECT_FLOAT_EQ(choice.grid.size[0], 0.01F);
  EXPECT_EQ(choice.grid.spatial_shape(), (Dims{201, 201, 201}));
  EXPECT_TRUE(says(choice, "object-sized"));
}

TEST(GridChoice, NetworksWithoutABoxTakeTheCloudsOwn) {
  const nn::NetworkInfo network = boxed_network(false);
  for (const nn::NetworkInfo* given : {static_cast<const nn::NetworkInfo*>(nullptr), &network}) {
    const GridChoice choice = choose_grid(diagonal(0, 400), given, {});
    EXPECT_FLOAT_EQ(choice.grid.size[2], 2);
    EXPECT_TRUE(says(choice, "the cloud's own box"));
  }
}

TEST(GridChoice, TheNetworksBoxNeedsATenthOfThePoints) {
  const nn::NetworkInfo network = boxed_network();
  EXPECT_TRUE(says(choose_grid(diagonal(0, 200), &network, {}), "the network's own"));
  EXPECT_TRUE(says(choose_grid(diagonal(95, 300), &network, {}), "only 9.1 %"));  // 1 of 11
  EXPECT_TRUE(says(choose_grid(diagonal(500, 800), &network, {}), "only 0.0 %"));
}

TEST(GridChoice, OwnBoxesHoldEveryPointAndLeaveRoomForStrides) {
  const Cloud cloud = diagonal(-3, 5);
  const GridChoice choice = choose_grid(cloud, nullptr, {"1", ""});
  EXPECT_EQ(choice.grid.spatial_shape(), (Dims{40, 40, 40}));
  const MeanVoxels voxels = voxelize_mean(cloud.points, choice.grid);
  const auto* ids = voxels.point_voxel.data<std::int64_t>();
  EXPECT_EQ(std::count(ids, ids + cloud.size(), -1), 0);
}

TEST(GridChoice, EmptyAndFlatCloudsGetAGrid) {
  Cloud empty;
  empty.points = Tensor::zeros({0, 3}, DType::kF32);
  const nn::NetworkInfo network = boxed_network();
  EXPECT_GE(choose_grid(empty, nullptr, {}).grid.spatial_shape()[0], 1);
  EXPECT_GE(choose_grid(empty, &network, {}).grid.spatial_shape()[0], 1);
  EXPECT_GE(choose_grid(diagonal(7, 7), nullptr, {}).grid.spatial_shape()[0], 1);
}

TEST(GridChoice, RefusalsNameTheOption) {
  for (const char* voxel : {"0", "-1", "1,2", "1,2,3,4", "x", "nan", "inf", "1e300", "1e-300"})
    EXPECT_NE(refusal({voxel, ""}).find("--voxel " + std::string(voxel)), std::string::npos) << voxel;
  for (const char* range :
       {"1", "0,0,0,1,1", "0,0,0,1,1,0", "0,0,0,1,1,-1", "0,0,0,1,1,x", "0,0,0,1,1,1e300"})
    EXPECT_NE(refusal({"", range}).find("--range " + std::string(range)), std::string::npos) << range;
  EXPECT_NE(refusal({"1e-12", ""}).find("2^31"), std::string::npos);
}

}  // namespace
}  // namespace aerogel::cli
