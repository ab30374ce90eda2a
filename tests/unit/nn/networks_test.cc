#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/nn.h"
#include "aerogel/plan.h"

#include "unit/nn/scene.h"

namespace aerogel::nn {
namespace {

/// The parameters of OpenPCDet's VoxelResBackBone8x, by its rules.
std::set<std::string> openpcdet_names() {
  std::set<std::string> names;
  const auto norm = [&names](const std::string& prefix) {
    for (const char* part : {"weight", "bias", "running_mean", "running_var"})
      names.insert(prefix + "." + part);
  };
  const auto post_act_block = [&](const std::string& prefix) {
    names.insert(prefix + ".0.weight");
    norm(prefix + ".1");
  };
  const auto basic_block = [&](const std::string& prefix) {
    for (const char* half : {"1", "2"}) {
      names.insert(prefix + ".conv" + half + ".weight");
      names.insert(prefix + ".conv" + half + ".bias");
      norm(prefix + ".bn" + half);
    }
  };
  post_act_block("conv_input");
  basic_block("conv1.0");
  basic_block("conv1.1");
  for (const char* level : {"conv2", "conv3", "conv4"}) {
    post_act_block(std::string(level) + ".0");
    basic_block(std::string(level) + ".1");
    basic_block(std::string(level) + ".2");
  }
  post_act_block("conv_out");
  return names;
}

std::map<std::string, Dims> shapes_of(std::string_view network) {
  const auto module = make_network(network);
  std::vector<Parameter> parameters;
  module->parameters("", parameters);
  std::map<std::string, Dims> shapes;
  for (const Parameter& parameter : parameters) shapes[parameter.name] = parameter.shape;
  EXPECT_EQ(shapes.size(), parameters.size()) << "a name stands twice";
  return shapes;
}

std::unique_ptr<Module> initialised(std::string_view network) {
  auto module = make_network(network);
  init_weights(*module, 1);
  return module;
}

TEST(CenterPoint, HasTheNamesOfOpenPcdet) {
  std::set<std::string> ours;
  for (const auto& [name, shape] : shapes_of("centerpoint")) ours.insert(name);
  EXPECT_EQ(ours, openpcdet_names());
  EXPECT_EQ(ours.size(), 121u);
}

TEST(CenterPoint, HasTheShapesOfOpenPcdet) {
  const auto shapes = shapes_of("centerpoint");
  EXPECT_EQ(shapes.at("conv_input.0.weight"), (Dims{16, 3, 3, 3, 5}));
  EXPECT_EQ(shapes.at("conv2.0.0.weight"), (Dims{32, 3, 3, 3, 16}));
  EXPECT_EQ(shapes.at("conv4.0.0.weight"), (Dims{128, 3, 3, 3, 64}));
  EXPECT_EQ(shapes.at("conv4.2.conv2.bias"), (Dims{128}));
  EXPECT_EQ(shapes.at("conv_out.0.weight"), (Dims{128, 3, 1, 1, 128}));
}

TEST(CenterPoint, ReducesTheWaymoGridToTwoByOneHundredEightyEight) {
  const auto network = initialised("centerpoint");
  Context context;
  const SparseTensor out = network->forward(scene(200, 5, {41, 1504, 1504}), context);
  EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{2, 188, 188}));
  EXPECT_EQ(out.channels(), 128);
}

TEST(CenterPoint, LayersOnOneLevelShareOneMap) {
  const auto network = initialised("centerpoint");
  const SparseTensor in = scene(400, 5, {41, 32, 32}, 2);
  std::map<std::string, bool> reused;
  Context context;
  context.exec.observer = [&reused](const OpRecord& record) { reused[record.label] = record.map_reused; };
  network->forward(in, context);
  EXPECT_EQ(reused.size(), 21u);  // each fused half of a block is one op
  EXPECT_FALSE(reused.at("conv_input.0"));
  for (const char* layer : {"conv1.0.conv1", "conv1.0.conv2", "conv1.1.conv1", "conv1.1.conv2"}) {
    EXPECT_TRUE(reused.at(layer)) << layer;
  }
  for (const std::string level : {"conv2", "conv3", "conv4"}) {
    EXPECT_FALSE(reused.at(level + ".0.0")) << level;
    EXPECT_FALSE(reused.at(level + ".1.conv1")) << level;
    for (const char* layer : {".1.conv2", ".2.conv1", ".2.conv2"})
      EXPECT_TRUE(reused.at(level + layer)) << layer;
  }
  const MapStats stats = in.coordinates.map_stats();
  EXPECT_EQ(stats.builds, 2);  // submanifold, and down to the next level
  EXPECT_EQ(stats.reuses, 4);
}

TEST(CenterPoint, OneObjectServesManyThreads) {
  const auto network = initialised("centerpoint");
  const SparseTensor in = scene(300, 5, {41, 32, 32});
  std::vector<SparseTensor> outs(4);
  std::vector<std::thread> threads;
  for (SparseTensor& out : outs) {
    threads.emplace_back([&network, &in, &out] {
      Context context;
      out = network->forward(in, context);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const SparseTensor& out : outs) EXPECT_EQ(relative_l2(out.features, outs[0].features), 0);
}

TEST(CenterPoint, RunsDryAndEmpty) {
  const auto network = initialised("centerpoint");
  Context dry;
  dry.exec.dry_run = true;
  EXPECT_EQ(network->forward(scene(300, 5, {41, 32, 32}), dry).channels(), 128);
  Context context;
  EXPECT_EQ(network->forward(scene(0, 5, {41, 32, 32}), context).features.shape(), (Dims{0, 128}));
}

TEST(CenterPoint, TrainsUnfused) {
  const auto network = initialised("centerpoint");
  std::set<std::string> labels;
  Context context;
  context.training = true;
  context.exec.observer = [&labels](const OpRecord& record) { labels.insert(record.label); };
  network->forward(scene(300, 5, {41, 32, 32}), context);
  for (const char* label : {"conv_input.0", "conv_input.1", "conv1.0.bn1", "conv4.2.bn2", "conv_out.1"}) {
    EXPECT_EQ(labels.count(label), 1u) << label;
  }
}

TEST(Networks, SayWhenWeightsAreMissing) {
  Context context;
  try {
    make_network("centerpoint")->forward(scene(10, 5, {41, 32, 32}), context);
    FAIL() << "expected InvalidArgument";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("[conv_input.0] has no weights yet"), std::string::npos)
        << error.what();
  }
}

TEST(Networks, SayWhenChannelsDisagree) {
  Context context;
  EXPECT_THROW(initialised("centerpoint")->forward(scene(10, 4, {41, 32, 32}), context), InvalidArgument);
  EXPECT_TRUE(context.exec.label.empty()) << "the label is put back";
}

TEST(Networks, AreListedWithVariants) {
  EXPECT_EQ(network_info("centerpoint").variant, "waymo");
  EXPECT_EQ(network_info("centerpoint", "nuscenes").features.back(), "timestamp");
  EXPECT_GE(list_networks().size(), 3u);
  for (const NetworkInfo& info : list_networks()) {
    EXPECT_NE(make_network(info.name, info.variant), nullptr);
    EXPECT_NE(network_table(info.name, info.variant).find("| layer |"), std::string::npos);
  }
  EXPECT_THROW(make_network("resnet"), InvalidArgument);
  EXPECT_THROW(make_network("centerpoint", "kitti"), InvalidArgument);
}

TEST(Unet3d, ReturnsToTheSitesItCameFrom) {
  const auto network = initialised("unet3d");
  const SparseTensor in = scene(300, 6, {16, 16, 16}, 2);
  Context context;
  const SparseTensor out = network->forward(in, context);
  EXPECT_EQ(out.coordinates, in.coordinates);
  EXPECT_EQ(out.channels(), 8);
}

}  // namespace
}  // namespace aerogel::nn
