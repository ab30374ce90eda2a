// Networks as tables: one row per layer, one interpreter for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "aerogel/nn.h"

namespace aerogel::nn {

enum class RowKind : std::uint8_t {
  kSubm,      ///< submanifold convolution
  kRegular,   ///< strided convolution; leaves its sites under `key`
  kInverse,   ///< back to the sites that `key` left
  kResidual,  ///< two submanifold convolutions with norms and the sum
  kConcat,    ///< the current features beside those of the row named by `key`
};

enum class Tail : std::uint8_t { kNone, kNormRelu };

/// One layer. Three axes: z, y, x.
struct LayerRow {
  std::string_view name;  ///< dotted; parameters are named behind it
  RowKind kind;
  std::int16_t c_in;
  std::int16_t c_out;
  std::int8_t kernel[3];
  std::int8_t stride[3];
  std::int8_t padding[3];
  Tail tail;
  std::string_view key;           ///< indice key, or for kConcat an earlier row
  bool bias = false;              ///< residual rows always have one
  bool spconv_pointwise = false;  ///< a 1×1×1 buffer in spconv's reading
};

struct LayerTable {
  std::span<const LayerRow> rows;
  double norm_eps = 1e-5;
};

/// A network that runs the rows in order.
std::unique_ptr<Module> make_table_network(const LayerTable& table);

/// The rows as a Markdown table.
std::string markdown(const LayerTable& table);

}  // namespace aerogel::nn
