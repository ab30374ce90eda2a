// Decoders of small widths from end to end: on the reference backend, dry, bounded.
#include <gtest/gtest.h>

#include "aerogel/error.h"
#include "aerogel/nn.h"

#include "nn/layer_table.h"
#include "unit/nn/scene.h"

namespace aerogel::nn {
namespace {

/// The sites of a sphere's surface in a grid of 8³, with 8 channels that vary over it.
SparseTensor sphere() {
  std::vector<std::int32_t> sites;
  std::vector<float> features;
  for (std::int32_t z = 0; z < 8; ++z) {
    for (std::int32_t y = 0; y < 8; ++y) {
      for (std::int32_t x = 0; x < 8; ++x) {
        const double radius = std::hypot(x - 3.5, y - 3.5, z - 3.5);
        if (radius < 2.6 || radius >= 3.5) continue;
        sites.insert(sites.end(), {0, z, y, x});
        for (int c = 0; c < 8; ++c)
          features.push_back(std::sin(0.7F * static_cast<float>(x + 2 * y + 3 * z + 5 * c)));
      }
    }
  }
  const auto n = static_cast<std::int64_t>(sites.size() / 4);
  return SparseTensor::create(Tensor::from<float>({n, 8}, features),
                              Tensor::from<std::int32_t>({n, 4}, sites), {8, 8, 8}, 1);
}

/// As trellis2-shape-decoder: blocks on a level, channels to space, a norm and a linear layer at the end.
LayerTable shape_decoder() {
  return {{{.name = "from_latent", .kind = RowKind::kLinear, .c_in = 8, .c_out = 32, .bias = true},
           {.name = "blocks.0.0", .kind = RowKind::kConvNext, .c_in = 32, .c_out = 32},
           {.name = "blocks.0.1", .kind = RowKind::kChannelsUp, .c_in = 32, .c_out = 16},
           {.name = "blocks.1.0", .kind = RowKind::kConvNext, .c_in = 16, .c_out = 16},
           {.name = "blocks.1.1", .kind = RowKind::kChannelsUp, .c_in = 16, .c_out = 8},
           {.name = "norm", .kind = RowKind::kLayerNorm, .c_in = 8, .c_out = 8},
           {.name = "output_layer", .kind = RowKind::kLinear, .c_in = 8, .c_out = 7, .bias = true}},
          1e-5};
}

/// As lato2-decoder: subdivide and prune.
LayerTable vertex_decoder() {
  return {{{.name = "input_layer", .kind = RowKind::kLinear, .c_in = 8, .c_out = 64, .bias = true},
           {.name = "decoder_vtx.0", .kind = RowKind::kSubdivideUp, .c_in = 64, .c_out = 32},
           {.name = "decoder_vtx.1", .kind = RowKind::kSubdivideUp, .c_in = 32, .c_out = 32}},
          1e-5};
}

class DecoderNetworks : public ::testing::TestWithParam<LayerTable (*)()> {
 protected:
  DecoderNetworks() : network_(make_table_network(GetParam()())), in_(sphere()) {
    init_weights(*network_, 11);
  }

  std::unique_ptr<Module> network_;
  SparseTensor in_;
};

TEST_P(DecoderNetworks, AgreeWithTheReferenceBackend) {
  Context fast;
  const SparseTensor out = network_->forward(in_, fast);
  Context slow;
  slow.exec.backend = Backend::kReference;
  const SparseTensor expected = network_->forward(in_, slow);
  EXPECT_EQ(out.coordinates.spatial_shape(), (Dims{32, 32, 32}));
  EXPECT_GT(out.sites(), in_.sites());
  ASSERT_EQ(out.sites(), expected.sites());
  for (std::int64_t i = 0; i < out.sites(); ++i) {
    for (int c = 0; c < 4; ++c) ASSERT_EQ(out.coordinates.row(i)[c], expected.coordinates.row(i)[c]);
  }
  EXPECT_LT(relative_l2(out.features, expected.features), 1e-5);
}

TEST_P(DecoderNetworks, MeetThePlanOfTheirDecisions) {
  Context context;
  context.exec.meter = std::make_shared<MemoryMeter>();
  const SparseTensor out = network_->forward(in_, context);
  ASSERT_EQ(context.decisions.size(), 2u);
  Context dry;
  dry.exec.dry_run = true;
  dry.exec.meter = std::make_shared<MemoryMeter>();
  dry.decisions = context.decisions;
  const SparseTensor planned = network_->forward(in_, dry);
  EXPECT_EQ(planned.sites(), out.sites());
  EXPECT_EQ(planned.channels(), out.channels());
  EXPECT_EQ(dry.exec.meter->peak_bytes(), context.exec.meter->peak_bytes());
  Context undecided;
  undecided.exec.dry_run = true;
  EXPECT_THROW(network_->forward(in_, undecided), InvalidArgument);
}

TEST_P(DecoderNetworks, RefuseMoreSitesThanAskedFor) {
  Context context;
  const std::int64_t made = network_->forward(in_, context).sites();
  Context roomy;
  roomy.max_sites = 8 * made;
  EXPECT_EQ(network_->forward(in_, roomy).sites(), made);
  Context tight;
  tight.max_sites = in_.sites();
  try {
    network_->forward(in_, tight);
    FAIL() << "not refused";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("over the bound of"), std::string::npos) << error.what();
  }
}

TEST_P(DecoderNetworks, TakeNoSitesAtAll) {
  Context context;
  const SparseTensor none = scene(0, 8, {8, 8, 8});
  EXPECT_EQ(network_->forward(none, context).sites(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, DecoderNetworks, ::testing::Values(shape_decoder, vertex_decoder));

}  // namespace
}  // namespace aerogel::nn
