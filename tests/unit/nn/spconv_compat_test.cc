#include <gtest/gtest.h>

#include "aerogel/error.h"

#include "nn/spconv_compat/layers.h"
#include "unit/nn/scene.h"

namespace aerogel::nn::spconv {
namespace {

using List = std::vector<std::int64_t>;
using Ctor = std::map<std::string, Value>;

Value integer(std::int64_t value) { return value; }

Ctor channels(std::int64_t c_in, std::int64_t c_out, std::int64_t kernel) {
  return {{"in_channels", integer(c_in)}, {"out_channels", integer(c_out)}, {"kernel_size", integer(kernel)}};
}

Ctor with(Ctor ctor, const std::string& name, Value value) {
  ctor[name] = std::move(value);
  return ctor;
}

LayerDescription layer(const std::string& cls, Ctor ctor, StateDict params = {}) {
  return {cls, std::move(ctor), std::move(params), {}};
}

std::unique_ptr<Module> initialised(const LayerDescription& description, const Quirks& quirks = {}) {
  auto module = make_layer(description, quirks);
  init_weights(*module, 1);
  return module;
}

SparseTensor one_site(const std::vector<float>& features, const Dims& shape = {4, 4, 4}) {
  return SparseTensor::create(Tensor::from<float>({1, static_cast<std::int64_t>(features.size())}, features),
                              Tensor::from<std::int32_t>({1, 4}, std::vector<std::int32_t>{0, 1, 1, 1}),
                              shape, 1);
}

void expect_values(const Tensor& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.numel(), static_cast<std::int64_t>(expected.size())) << got.str();
  for (std::int64_t i = 0; i < got.numel(); ++i) EXPECT_FLOAT_EQ(got.data<float>()[i], expected[i]) << i;
}

Quirks without(bool Quirks::*quirk) {
  Quirks quirks;
  quirks.*quirk = false;
  return quirks;
}

TEST(SpconvQuirk, PointwiseBufferIsReinterpreted) {
  const Tensor weight = Tensor::from<float>({3, 1, 1, 1, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const LayerDescription description =
      layer("SubMConv3d", with(channels(2, 3, 1), "bias", false), {{"weight", weight}});
  const SparseTensor in = one_site({10, 1});
  Context context;
  expect_values(make_layer(description)->forward(in, context).features, {14, 25, 36});  // [[1,2,3],[4,5,6]]
  const Quirks quirks = without(&Quirks::pointwise_reinterpreted);
  expect_values(make_layer(description, quirks)->forward(in, context).features, {12, 34, 56});
  EXPECT_EQ(state_dict(*make_layer(description)).at("weight").shape(), weight.shape()) << "stored as given";
}

TEST(SpconvQuirk, MaxPoolStartsFromZero) {
  const LayerDescription description =
      layer("SparseMaxPool", {{"ndim", integer(3)}, {"kernel_size", integer(3)}, {"subm", true}});
  const SparseTensor in = one_site({-2, 5});
  Context context;
  expect_values(make_layer(description)->forward(in, context).features, {0, 5});
  const Quirks quirks = without(&Quirks::max_pool_from_zero);
  expect_values(make_layer(description, quirks)->forward(in, context).features, {-2, 5});
}

TEST(SpconvQuirk, GlobalAveragePoolGivesChannelZeroOnly) {
  const SparseTensor in = one_site({-2, 5});
  const Context context;
  expect_values(global_pool("SparseGlobalAvgPool", in, context), {-2});
  expect_values(global_pool("SparseGlobalAvgPool", in, context, without(&Quirks::global_avg_channel_zero)),
                {-2, 5});
  expect_values(global_pool("SparseGlobalMaxPool", in, context), {-2, 5});
  EXPECT_THROW(global_pool("SparseGlobalMinPool", in, context), Unsupported);
}

TEST(SpconvQuirk, SubmanifoldIgnoresStrideAndPadding) {
  const Ctor ctor = with(with(channels(2, 2, 3), "stride", integer(2)), "padding", List{0, 5, 1});
  const SparseTensor in = scene(40, 2, {6, 6, 6});
  Context context;
  EXPECT_EQ(initialised(layer("SubMConv3d", ctor))->forward(in, context).coordinates, in.coordinates);
  EXPECT_THROW(make_layer(layer("SubMConv3d", ctor), without(&Quirks::subm_ignores_stride_and_padding)),
               InvalidArgument);
}

TEST(SpconvQuirk, LayersOnOneIndiceKeyMustAgree) {
  const SparseTensor in = scene(60, 2, {8, 8, 8});
  const std::string key = "indice_key";
  const auto first = [&](const Quirks& quirks) {
    return initialised(layer("SubMConv3d", with(channels(2, 2, 3), key, std::string("a"))), quirks);
  };
  const LayerDescription others[] = {
      layer("SubMConv3d", with(channels(2, 2, 5), key, std::string("a"))),
      layer("SubMConv3d", with(with(channels(2, 2, 3), "dilation", integer(2)), key, std::string("a"))),
      layer("SparseConv3d", with(channels(2, 2, 3), key, std::string("a"))),
  };
  for (const LayerDescription& other : others) {
    Context context;
    first({})->forward(in, context);
    try {
      initialised(other)->forward(in, context);
      FAIL() << "expected InvalidArgument";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("indice key 'a' is taken"), std::string::npos) << error.what();
    }
    const Quirks hint = without(&Quirks::indice_key_must_agree);
    Context lenient;
    first(hint)->forward(in, lenient);
    EXPECT_NO_THROW(initialised(other, hint)->forward(in, lenient));
  }
  Context context;
  first({})->forward(in, context);
  EXPECT_NO_THROW(first({})->forward(in, context));  // the same once more
  EXPECT_THROW(first({})->forward(scene(60, 2, {8, 8, 8}, 1, 99), context), InvalidArgument);  // other sites
  EXPECT_NO_THROW(initialised(layer("SubMConv3d", with(channels(2, 2, 1), key, std::string("a"))))
                      ->forward(scene(60, 2, {8, 8, 8}, 1, 99), context));  // a matrix product takes no key
}

TEST(SpconvQuirk, TransposedExtentLeavesDilationOut) {
  const Ctor ctor = with(with(channels(2, 2, 3), "dilation", integer(2)), "bias", false);
  const SparseTensor in = scene(30, 2, {5, 5, 5});
  Context context;
  const SparseTensor cropped = initialised(layer("SparseConvTranspose3d", ctor))->forward(in, context);
  const Quirks quirks = without(&Quirks::transposed_extent_without_dilation);
  const SparseTensor whole = initialised(layer("SparseConvTranspose3d", ctor), quirks)->forward(in, context);
  EXPECT_EQ(cropped.coordinates.spatial_shape(), (Dims{7, 7, 7}));
  EXPECT_EQ(whole.coordinates.spatial_shape(), (Dims{9, 9, 9}));
  EXPECT_LT(cropped.sites(), whole.sites());
  for (std::int64_t i = 0, j = 0; i < cropped.sites(); ++i, ++j) {  // both sorted: what stays is the same
    while (!std::equal(whole.coordinates.row(j), whole.coordinates.row(j) + 4, cropped.coordinates.row(i)))
      ++j;
    EXPECT_EQ(cropped.features.data<float>()[2 * i], whole.features.data<float>()[2 * j]);
  }
}

TEST(SpconvLayers, PoolThenInverseReturnsToItsSites) {
  LayerDescription sequence = layer("SparseSequential", {});
  sequence.children = {
      layer("SparseMaxPool3d", {{"kernel_size", integer(2)}, {"indice_key", std::string("pool")}}),
      layer("SparseInverseConv3d", with(channels(2, 3, 2), "indice_key", std::string("pool")))};
  const SparseTensor in = scene(60, 2, {8, 8, 8});
  Context context;
  EXPECT_EQ(initialised(sequence)->forward(in, context).coordinates, in.coordinates);
}

TEST(SpconvLayers, AveragePoolDividesByActiveInputs) {
  const LayerDescription description =
      layer("SparseAvgPool", {{"ndim", integer(3)}, {"kernel_size", integer(3)}, {"subm", true}});
  Context context;
  expect_values(make_layer(description)->forward(one_site({6, -9}), context).features, {6, -9});
}

TEST(SpconvLayers, BatchNormUsesBatchStatisticsWhenTraining) {
  const auto norm = make_layer(layer("nn.BatchNorm1d", {{"num_features", integer(1)}}));
  const SparseTensor in = scene(40, 1, {6, 6, 6});
  Context context;
  context.training = true;
  const Tensor out = norm->forward(in, context).features;
  double mean = 0;
  double square = 0;
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    mean += out.data<float>()[i];
    square += static_cast<double>(out.data<float>()[i]) * static_cast<double>(out.data<float>()[i]);
  }
  EXPECT_NEAR(mean / static_cast<double>(out.numel()), 0, 1e-6);
  EXPECT_NEAR(square / static_cast<double>(out.numel()), 1, 1e-4);
}

TEST(SpconvLayers, EveryDimensionIsThere) {
  for (const char* stem : {"SubMConv", "SparseConv", "SparseConvTranspose"}) {
    for (int ndim = 1; ndim <= 4; ++ndim) {
      const Dims shape = Dims::filled(ndim, 5);
      Context context;
      const auto module = initialised(layer(stem + std::to_string(ndim) + "d", channels(2, 3, 3)));
      EXPECT_EQ(module->forward(scene(10, 2, shape), context).channels(), 3) << stem << ndim;
    }
  }
}

TEST(SpconvLayers, TablesAddAndJoin) {
  const SparseTensor a = one_site({1, 2});
  const SparseTensor parts[] = {a, a.with_features(Tensor::from<float>({1, 2}, std::vector<float>{10, 20}))};
  const Context context;
  expect_values(apply_table("AddTable", parts, context).features, {11, 22});
  expect_values(apply_table("JoinTable", parts, context).features, {1, 2, 10, 20});
  EXPECT_THROW(apply_table("ConcatTable", parts, context), Unsupported);
}

TEST(SpconvLayers, RefusalsNameTheArgument) {
  const auto message = [](const LayerDescription& description) -> std::string {
    try {
      make_layer(description);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(message(layer("SparseFoo3d", {})), "[spconv] no layer of class 'SparseFoo3d'");
  EXPECT_NE(message(layer("SubMConv3d", with(channels(2, 2, 3), "strides", integer(1))))
                .find("unknown arguments: strides"),
            std::string::npos);
  EXPECT_NE(
      message(layer("SubMConv3d", with(channels(2, 2, 3), "kernel_size", List{3, 3}))).find("a list of 3"),
      std::string::npos);
  EXPECT_NE(
      message(layer("SparseConv3d", with(channels(2, 2, 3), "groups", integer(2)))).find("groups must be 1"),
      std::string::npos);
  EXPECT_NE(message(layer("SubMConv3d", channels(2, 2, 3), {{"weight", Tensor::zeros({2}, DType::kF32)}}))
                .find("missing bias [2]"),
            std::string::npos);
}

}  // namespace
}  // namespace aerogel::nn::spconv
