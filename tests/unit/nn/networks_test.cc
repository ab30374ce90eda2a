#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/nn.h"
#include "aerogel/plan.h"
#include "aerogel/weight_layout.h"

#include "nn/layer_table.h"
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

/// `network` on a small scene: the sites of the output, and that every convolution of a level shares its
/// maps.
SparseTensor run_small(std::string_view network, std::int64_t channels, std::int64_t* map_builds) {
  const auto module = initialised(network);
  std::int64_t builds = 0;
  Context context;
  context.exec.observer = [&builds](const OpRecord& record) {
    builds += record.pairs > 0 && !record.map_reused;
  };
  const SparseTensor out = module->forward(scene(600, channels, {41, 64, 64}, 2), context);
  *map_builds = builds;
  return out;
}

TEST(Second, HasTheNamesAndShapesOfOpenPcdet) {
  const auto shapes = shapes_of("second");
  EXPECT_EQ(shapes.size(), 12u * 5);  // weight, and the norm's four, of every layer
  EXPECT_EQ(shapes.at("conv_input.0.weight"), (Dims{16, 3, 3, 3, 4}));
  EXPECT_EQ(shapes.at("conv1.0.0.weight"), (Dims{16, 3, 3, 3, 16}));
  EXPECT_EQ(shapes.at("conv4.0.0.weight"), (Dims{64, 3, 3, 3, 64}));
  EXPECT_EQ(shapes.at("conv4.2.1.running_var"), (Dims{64}));
  EXPECT_EQ(shapes.at("conv_out.0.weight"), (Dims{128, 3, 1, 1, 64}));
  std::int64_t builds = 0;
  const SparseTensor out = run_small("second", 4, &builds);
  EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{2, 8, 8}));
  EXPECT_EQ(builds, 8);  // a submanifold map a level, four strided ones
}

TEST(MinkUnet, HasTheNamesAndShapesOfSpvnas) {
  const auto shapes = shapes_of("minkunet18");
  EXPECT_EQ(shapes.at("stem.0.weight"), (Dims{32, 3, 3, 3, 4}));
  EXPECT_EQ(shapes.at("stem.4.running_mean"), (Dims{32}));
  EXPECT_EQ(shapes.at("stage1.0.net.0.weight"), (Dims{32, 2, 2, 2, 32}));
  EXPECT_EQ(shapes.at("stage2.1.net.3.weight"), (Dims{64, 3, 3, 3, 64}));
  EXPECT_EQ(shapes.at("stage2.1.downsample.0.weight"), (Dims{64, 1, 1, 1, 32}));
  EXPECT_EQ(shapes.count("stage2.2.downsample.0.weight"), 0u);
  EXPECT_EQ(shapes.at("up1.0.net.0.weight"), (Dims{256, 2, 2, 2, 256}));
  EXPECT_EQ(shapes.at("up1.1.0.net.0.weight"), (Dims{256, 3, 3, 3, 384}));
  EXPECT_EQ(shapes.at("up4.1.0.downsample.0.weight"), (Dims{96, 1, 1, 1, 128}));
  EXPECT_EQ(shapes.at("classifier.0.weight"), (Dims{19, 96}));
  EXPECT_EQ(shapes.count("stem.0.bias"), 0u);
  EXPECT_EQ(shapes_of("minkunet34").count("stage4.6.net.3.weight"), 1u);
  EXPECT_EQ(shapes.count("stage4.3.net.3.weight"), 0u);
}

TEST(MinkUnet, LoadsATorchSparseCheckpoint) {
  const auto network = initialised("minkunet18");
  StateDict stored;  // as TorchSparse would have saved it
  for (const auto& [name, tensor] : state_dict(*network)) {
    const bool kernel = tensor.shape().size() == 5;
    stored[kernel ? name.substr(0, name.size() - 6) + "kernel" : name] =
        kernel ? export_weight(tensor, WeightLayout::kTorchSparse) : tensor;
  }
  EXPECT_EQ(stored.at("stem.0.kernel").shape(), (Dims{27, 4, 32}));
  EXPECT_EQ(stored.at("stage2.1.downsample.0.kernel").shape(), (Dims{32, 64}));
  const auto loaded = make_network("minkunet18");
  load_state_dict(*loaded, import_state_dict(stored, WeightLayout::kTorchSparse));
  const SparseTensor in = scene(300, 4, {20, 20, 20});
  Context a;
  Context b;
  const Tensor one = network->forward(in, a).features;
  const Tensor other = loaded->forward(in, b).features;
  EXPECT_EQ(relative_l2(one, other), 0);
}

TEST(MinkUnet, ReturnsToItsInputOnAnyExtent) {
  const auto network = initialised("minkunet34");
  const SparseTensor in = scene(500, 4, {13, 31, 21});  // odd: floor(c / 2) keeps the last row of a level
  Context context;
  const SparseTensor out = network->forward(in, context);
  EXPECT_EQ(out.coordinates, in.coordinates);
  EXPECT_EQ(out.channels(), 19);
}

TEST(SpUnet, HasTheNamesAndShapesOfPointcept) {
  const auto shapes = shapes_of("spunet");
  EXPECT_EQ(shapes.at("conv_input.0.weight"), (Dims{32, 5, 5, 5, 6}));
  EXPECT_EQ(shapes.at("conv_input.1.bias"), (Dims{32}));
  EXPECT_EQ(shapes.at("down.3.0.weight"), (Dims{256, 2, 2, 2, 128}));
  EXPECT_EQ(shapes.at("enc.3.block5.conv2.weight"), (Dims{256, 3, 3, 3, 256}));
  EXPECT_EQ(shapes.count("enc.0.block0.proj.0.weight"), 0u);
  EXPECT_EQ(shapes.at("up.0.0.weight"), (Dims{96, 2, 2, 2, 96}));
  EXPECT_EQ(shapes.at("up.3.0.weight"), (Dims{256, 2, 2, 2, 256}));
  EXPECT_EQ(shapes.at("dec.3.block0.conv1.weight"), (Dims{256, 3, 3, 3, 384}));
  EXPECT_EQ(shapes.at("dec.0.block0.proj.0.weight"), (Dims{96, 1, 1, 1, 128}));
  EXPECT_EQ(shapes.at("dec.0.block0.proj.1.weight"), (Dims{96}));
  EXPECT_EQ(shapes.at("final.weight"), (Dims{20, 1, 1, 1, 96}));
  std::int64_t builds = 0;
  const SparseTensor out = run_small("spunet", 6, &builds);
  EXPECT_EQ(out.channels(), 20);
  EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{41, 64, 64}));
}

TEST(VoxelNext, JoinsThreeLevelsInTheBirdsEyeView) {
  const auto shapes = shapes_of("voxelnext");
  EXPECT_EQ(shapes.at("conv6.2.conv2.weight"), (Dims{128, 3, 3, 3, 128}));
  EXPECT_EQ(shapes.at("conv_out.0.weight"), (Dims{128, 3, 3, 128}));
  EXPECT_EQ(shapes.at("shared_conv.0.bias"), (Dims{128}));
  std::int64_t builds = 0;
  const SparseTensor out = run_small("voxelnext", 5, &builds);
  EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{8, 8}));  // 64 by three strides of 2
  EXPECT_EQ(out.channels(), 128);
}

TEST(Cylinder3d, HasItsAsymmetricBlocks) {
  const auto shapes = shapes_of("cylinder3d");
  EXPECT_EQ(shapes.at("downCntx.conv1.weight"), (Dims{32, 1, 3, 3, 16}));
  EXPECT_EQ(shapes.at("downCntx.conv1_2.weight"), (Dims{32, 3, 1, 3, 32}));
  EXPECT_EQ(shapes.at("resBlock5.bn2.running_var"), (Dims{512}));
  EXPECT_EQ(shapes.at("resBlock4.pool.weight"), (Dims{256, 3, 3, 3, 256}));
  EXPECT_EQ(shapes.at("upBlock1.trans_dilao.weight"), (Dims{256, 3, 3, 3, 512}));
  EXPECT_EQ(shapes.at("upBlock3.up_subm.weight"), (Dims{64, 3, 3, 3, 64}));
  EXPECT_EQ(shapes.at("upBlock0.conv3.weight"), (Dims{512, 3, 3, 3, 512}));
}

/// Sites of one small block of a decoder and what a dry run says.
TEST(Decoders, HaveTheNamesOfTrellis) {
  const auto shape = shapes_of("trellis2-shape-decoder");
  EXPECT_EQ(shape.at("from_latent.weight"), (Dims{1024, 32}));
  EXPECT_EQ(shape.at("blocks.0.3.conv.weight"), (Dims{1024, 3, 3, 3, 1024}));
  EXPECT_EQ(shape.at("blocks.1.15.mlp.0.weight"), (Dims{2048, 512}));
  EXPECT_EQ(shape.at("blocks.0.4.conv1.weight"), (Dims{4096, 3, 3, 3, 1024}));
  EXPECT_EQ(shape.at("blocks.0.4.conv2.weight"), (Dims{512, 3, 3, 3, 512}));
  EXPECT_EQ(shape.at("blocks.3.4.to_subdiv.weight"), (Dims{8, 128}));
  EXPECT_EQ(shape.at("output_layer.weight"), (Dims{7, 64}));
  const auto lato = shapes_of("lato2-decoder");
  EXPECT_EQ(lato.at("decoder_vtx.0.upsample.out_layers.0.weight"), (Dims{256, 3, 3, 3, 512}));
  EXPECT_EQ(lato.at("decoder_vtx.1.upsample.skip_connection.weight"), (Dims{128, 1, 1, 1, 256}));
  EXPECT_EQ(lato.count("decoder_vtx.3.upsample.skip_connection.weight"), 0u);
}

TEST(LayerTable, RefusesARowThatReadsALaterOne) {
  LayerTable table{{{.name = "a", .c_in = 1, .c_out = 1},
                    {.name = "join", .kind = RowKind::kConcat, .c_in = 1, .c_out = 2, .with = "b"}}};
  EXPECT_THROW(make_table_network(table), InvalidArgument);
}

}  // namespace
}  // namespace aerogel::nn
