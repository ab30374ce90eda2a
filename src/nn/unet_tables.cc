// U-Nets: levels down, and back up onto the same sites, each joined with what the way down left there.
#include <fmt/core.h>

#include "nn/network_tables.h"

namespace aerogel::nn {

// The small U-Net of the recorded spconv case unet3d_float32; its weights are an spconv state dict, hence the
// head.
LayerTable unet3d_table() {
  const Dims twos = {2, 2, 2};
  const Dims ones = {1, 1, 1};
  return {{
      {.name = "stem", .c_in = 6, .c_out = 16, .key = "subm1"},
      {.name = "stem.3", .c_in = 16, .c_out = 16, .tail = Tail::kNone, .key = "subm1"},
      {.name = "down",
       .kind = RowKind::kRegular,
       .c_in = 16,
       .c_out = 32,
       .stride = twos,
       .padding = ones,
       .tail = Tail::kNone,
       .key = "down"},
      {.name = "mid", .c_in = 32, .c_out = 32, .key = "subm2"},
      {.name = "up", .kind = RowKind::kInverse, .c_in = 32, .c_out = 16, .tail = Tail::kNone, .key = "down"},
      {.name = "join", .kind = RowKind::kConcat, .c_in = 16, .c_out = 32, .with = "stem.3"},
      {.name = "head",
       .c_in = 32,
       .c_out = 8,
       .kernel = ones,
       .tail = Tail::kNone,
       .bias = true,
       .spconv_pointwise = true},
  }};
}

// SpUNet-v1m1 of Pointcept (pointcept/models/sparse_unet, MIT), ScanNet: a 5³ stem, four levels of 2, 3, 4
// and 6 residual blocks down, two on each level up, norms of eps 1e-3. Its checkpoints are spconv's, hence
// its reading of 1×1×1 buffers.
LayerTable spunet_table() {
  constexpr int kLevels = 4;
  constexpr int kBlocks[] = {2, 3, 4, 6};
  constexpr std::int64_t kDown[] = {32, 64, 128, 256};  // behind each level's strided layer
  constexpr std::int64_t kUp[] = {96, 96, 128, 256};    // behind each level's inverse layer
  LayerTable table{{}, 1e-3};
  const auto block = [](const std::string& name, std::int64_t c_in, std::int64_t c_out,
                        const std::string& key) {
    return LayerRow{.name = name,
                    .kind = RowKind::kResidual,
                    .c_in = c_in,
                    .c_out = c_out,
                    .key = key,
                    .spconv_pointwise = true};
  };
  std::vector<std::string> skips = {"conv_input"};
  table.rows.push_back({.name = "conv_input", .c_in = 6, .c_out = 32, .kernel = {5, 5, 5}, .key = "stem"});
  std::int64_t channels = 32;
  for (int level = 0; level < kLevels; ++level) {
    table.rows.push_back({.name = fmt::format("down.{}", level),
                          .kind = RowKind::kRegular,
                          .c_in = channels,
                          .c_out = kDown[level],
                          .kernel = {2, 2, 2},
                          .stride = {2, 2, 2},
                          .padding = {0, 0, 0},
                          .key = fmt::format("spconv{}", level + 1)});
    channels = kDown[level];
    for (int i = 0; i < kBlocks[level]; ++i)
      table.rows.push_back(block(fmt::format("enc.{}.block{}", level, i), channels, channels,
                                 fmt::format("subm{}", level + 1)));
    skips.push_back(table.rows.back().name);
  }
  for (int level = kLevels - 1; level >= 0; --level) {
    table.rows.push_back({.name = fmt::format("up.{}", level),
                          .kind = RowKind::kInverse,
                          .c_in = channels,
                          .c_out = kUp[level],
                          .kernel = {2, 2, 2},
                          .key = fmt::format("spconv{}", level + 1)});
    const std::int64_t joined = kUp[level] + (level == 0 ? 32 : kDown[level - 1]);
    table.rows.push_back({.name = fmt::format("join.{}", level),
                          .kind = RowKind::kConcat,
                          .c_in = kUp[level],
                          .c_out = joined,
                          .with = skips[static_cast<std::size_t>(level)]});
    channels = kUp[level];
    for (int i = 0; i < 2; ++i)
      table.rows.push_back(block(fmt::format("dec.{}.block{}", level, i), i == 0 ? joined : channels,
                                 channels, fmt::format("subm{}", level)));
  }
  table.rows.push_back({.name = "final",
                        .c_in = channels,
                        .c_out = 20,
                        .kernel = {1, 1, 1},
                        .tail = Tail::kNone,
                        .bias = true,
                        .spconv_pointwise = true});
  return table;
}

// MinkUNet with basic blocks (Choy et al. 2019, arXiv:1904.08755) as SPVNAS has it for SemanticKITTI
// (core/models/semantic_kitti/minkunet.py, MIT), under its names; TorchSparse checkpoints come in through
// import_state_dict. `encoder_blocks` is the only difference between MinkUNet18 and 34.
LayerTable minkunet_table(const std::vector<int>& encoder_blocks) {
  const ResidualNames names = {{"net.0", "net.1"}, {"net.3", "net.4"}, {"downsample.0", "downsample.1"}};
  constexpr std::int64_t kDown[] = {32, 32, 64, 128, 256};
  constexpr std::int64_t kUp[] = {256, 128, 96, 96};
  LayerTable table;
  const auto subm_key = [](int level) { return fmt::format("subm{}", level); };
  const auto conv = [](const std::string& name, RowKind kind, std::int64_t c_in, std::int64_t c_out,
                       const std::string& key) {
    return LayerRow{.name = name,
                    .kind = kind,
                    .c_in = c_in,
                    .c_out = c_out,
                    .kernel = {2, 2, 2},
                    .stride = {2, 2, 2},
                    .sites = SiteRule::kMinkowski,  // TorchSparse's: floor(c / 2)
                    .key = key,
                    .conv = name + ".net.0",
                    .norm = name + ".net.1"};
  };
  const auto block = [&](const std::string& name, std::int64_t c_in, std::int64_t c_out, int level) {
    table.rows.push_back({.name = name,
                          .kind = RowKind::kResidual,
                          .c_in = c_in,
                          .c_out = c_out,
                          .key = subm_key(level),
                          .residual = names});
  };
  table.rows.push_back(
      {.name = "stem.0", .c_in = 4, .c_out = 32, .key = subm_key(0), .conv = "stem.0", .norm = "stem.1"});
  table.rows.push_back(
      {.name = "stem.3", .c_in = 32, .c_out = 32, .key = subm_key(0), .conv = "stem.3", .norm = "stem.4"});
  std::vector<std::string> skips = {"stem.3"};
  for (int level = 1; level <= 4; ++level) {
    const std::int64_t c_in = kDown[level - 1];
    table.rows.push_back(
        conv(fmt::format("stage{}.0", level), RowKind::kRegular, c_in, c_in, fmt::format("down{}", level)));
    for (int i = 0; i < encoder_blocks[static_cast<std::size_t>(level - 1)]; ++i)
      block(fmt::format("stage{}.{}", level, i + 1), i == 0 ? c_in : kDown[level], kDown[level], level);
    skips.push_back(table.rows.back().name);
  }
  std::int64_t channels = kDown[4];
  for (int up = 1; up <= 4; ++up) {
    const int level = 4 - up;  // the level that it leads to
    const std::int64_t c_out = kUp[up - 1];
    table.rows.push_back(conv(fmt::format("up{}.0", up), RowKind::kInverse, channels, c_out,
                              fmt::format("down{}", level + 1)));
    const std::int64_t joined = c_out + kDown[level];
    table.rows.push_back({.name = fmt::format("up{}.join", up),
                          .kind = RowKind::kConcat,
                          .c_in = c_out,
                          .c_out = joined,
                          .with = skips[static_cast<std::size_t>(level)]});
    for (int i = 0; i < 2; ++i) block(fmt::format("up{}.1.{}", up, i), i == 0 ? joined : c_out, c_out, level);
    channels = c_out;
  }
  table.rows.push_back(
      {.name = "classifier.0", .kind = RowKind::kLinear, .c_in = channels, .c_out = 19, .bias = true});
  return table;
}

// The asymmetric U-Net of Cylinder3D (network/segmentator_3d_asymm_spconv.py, Apache-2.0) on cells (ρ, φ, z):
// pairs of 1×3×3 and 3×1×3 convolutions, each followed by LeakyReLU and then a norm. Its context module and
// classifier (ReconNet, logits) are not part of it.
LayerTable cylinder3d_table() {
  LayerTable table;
  const Dims wide = {1, 3, 3};
  const Dims tall = {3, 1, 3};
  const auto conv = [&](const std::string& block, const std::string& name, const std::string& norm,
                        std::int64_t c_in, std::int64_t c_out, const Dims& kernel,
                        const std::string& in = "") {
    table.rows.push_back({.name = block + name,
                          .c_in = c_in,
                          .c_out = c_out,
                          .kernel = kernel,
                          .tail = Tail::kLeakyNorm,
                          .in = in,
                          .conv = block + name,
                          .norm = block + norm});
  };
  // Two ways from `in` to the sum.
  const auto asymmetric = [&](const std::string& block, std::int64_t c_in, std::int64_t c_out,
                              const std::string& in) {
    conv(block, ".conv1", ".bn0", c_in, c_out, wide, in);
    conv(block, ".conv1_2", ".bn0_2", c_out, c_out, tall);
    conv(block, ".conv2", ".bn1", c_in, c_out, tall, in);
    conv(block, ".conv3", ".bn2", c_out, c_out, wide);
    table.rows.push_back(
        {.name = block, .kind = RowKind::kAdd, .c_in = c_out, .c_out = c_out, .with = block + ".conv1_2"});
  };
  table.rows.push_back({.name = "input", .kind = RowKind::kLinear, .c_in = 5, .c_out = 16, .bias = true});
  asymmetric("downCntx", 16, 32, "input");
  std::string in = "downCntx";
  for (int level = 2; level <= 5; ++level) {
    const std::int64_t c_out = std::int64_t{16} << level;
    const std::string block = fmt::format("resBlock{}", level);
    asymmetric(block, c_out / 2, c_out, in);
    in = block + ".pool";
    table.rows.push_back({.name = in,
                          .kind = RowKind::kRegular,
                          .c_in = c_out,
                          .c_out = c_out,
                          .stride = {2, 2, level < 4 ? 2 : 1},
                          .padding = {1, 1, 1},
                          .tail = Tail::kNone,
                          .key = fmt::format("down{}", level)});
  }
  for (int up = 0; up < 4; ++up) {
    const int level = 5 - up;
    const std::string block = fmt::format("upBlock{}", up);
    const std::int64_t c_out = std::int64_t{16} << level;
    conv(block, ".trans_dilao", ".trans_bn", up == 0 ? c_out : 2 * c_out, c_out, {3, 3, 3});
    table.rows.push_back({.name = block + ".up_subm",
                          .kind = RowKind::kInverse,
                          .c_in = c_out,
                          .c_out = c_out,
                          .tail = Tail::kNone,
                          .key = fmt::format("down{}", level)});
    table.rows.push_back({.name = block,
                          .kind = RowKind::kAdd,
                          .c_in = c_out,
                          .c_out = c_out,
                          .with = fmt::format("resBlock{}", level)});
    conv(block, ".conv1", ".bn1", c_out, c_out, wide);
    conv(block, ".conv2", ".bn2", c_out, c_out, tall);
    conv(block, ".conv3", ".bn3", c_out, c_out, {3, 3, 3});
  }
  return table;
}

}  // namespace aerogel::nn
