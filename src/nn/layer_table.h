// Networks as tables: one row per layer, one interpreter for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aerogel/nn.h"

#include "nn/conv_block.h"

namespace aerogel::nn {

enum class RowKind : std::uint8_t {
  kSubm,         ///< submanifold convolution
  kRegular,      ///< strided convolution; leaves its sites under `key`
  kInverse,      ///< back to the sites that `key` left
  kResidual,     ///< two submanifold convolutions with norms and the sum
  kLinear,       ///< weight [C_out, C_in] on every site
  kLayerNorm,    ///< without weights
  kConvNext,     ///< ConvNextBlock
  kChannelsUp,   ///< ChannelToSpaceUpBlock
  kSubdivideUp,  ///< SubdivideUpBlock
  kConcat,       ///< the features beside those of `with`
  kAdd,          ///< the sum with `with`, on the same sites
  kAddUnion,     ///< the sum with `with`, over the union of the sites
  kBirdsEye,     ///< coordinates times `stride`, then summed over z
};

/// One layer, or one step between layers.
struct LayerRow {
  std::string name;  ///< dotted; parameters are named behind it
  RowKind kind = RowKind::kSubm;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  Dims kernel = {3, 3, 3};
  Dims stride = {};                     ///< regular, bird's eye
  Dims padding = {};                    ///< regular
  SiteRule sites = SiteRule::kReached;  ///< regular
  Tail tail = Tail::kNormRelu;          ///< of a convolution
  std::string key = {};                 ///< indice key
  std::string in = {};                  ///< the earlier row that it reads; empty: the one before
  std::string with = {};                ///< the earlier row that it reads beside
  std::string conv = {};        ///< the convolution's own dotted name; empty: name.0, or name without a tail
  std::string norm = {};        ///< the norm's; empty: name.1
  ResidualNames residual = {};  ///< names behind `name` of a residual row's parts
  bool bias = false;            ///< of each convolution of the row
  bool spconv_pointwise = false;  ///< 1×1×1 buffers in spconv's reading
};

struct LayerTable {
  std::vector<LayerRow> rows;
  double norm_eps = 1e-5;
};

/// A network that runs the rows in order; features are kept only until the last row that reads them.
/// throws InvalidArgument for a row that reads a row which does not come before it
std::unique_ptr<Module> make_table_network(LayerTable table);

/// The rows as a Markdown table.
std::string markdown(const LayerTable& table);

}  // namespace aerogel::nn
