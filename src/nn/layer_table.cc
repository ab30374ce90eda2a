#include "nn/layer_table.h"

#include <iterator>
#include <map>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "aerogel/ops/elementwise.h"

#include "nn/conv_block.h"
#include "nn/conv_layer.h"
#include "nn/scope.h"

namespace aerogel::nn {
namespace {

constexpr std::string_view kRowKindNames[] = {"submanifold", "regular", "inverse", "residual", "concat"};

Dims dims(const std::int8_t (&values)[3]) { return {values[0], values[1], values[2]}; }

ConvKind conv_kind(RowKind kind) {
  if (kind == RowKind::kRegular) return ConvKind::kRegular;
  return kind == RowKind::kInverse ? ConvKind::kInverse : ConvKind::kSubmanifold;
}

std::unique_ptr<Module> make_row(const LayerRow& row, double norm_eps) {
  ConvLayerOptions options;
  options.kind = conv_kind(row.kind);
  options.c_in = row.c_in;
  options.c_out = row.c_out;
  options.kernel = dims(row.kernel);
  options.bias = row.bias;
  options.key = std::string(row.key);
  if (row.spconv_pointwise) options.pointwise = PointwiseLayout::kSpconvReinterpreted;
  if (row.kind == RowKind::kRegular) {
    options.stride = dims(row.stride);
    options.padding = dims(row.padding);
  }
  if (row.kind == RowKind::kResidual) return std::make_unique<ResidualBlock>(options, norm_eps);
  if (row.tail == Tail::kNormRelu) return std::make_unique<ConvBlock>(options, norm_eps);
  return std::make_unique<ConvLayer>(options);
}

class TableNetwork : public Module {
 public:
  explicit TableNetwork(const LayerTable& table) {
    for (const LayerRow& row : table.rows) {
      const bool joins = row.kind == RowKind::kConcat;
      if (joins) skips_.insert(row.key);
      layers_.push_back({&row, joins ? nullptr : make_row(row, table.norm_eps)});
    }
  }

  SparseTensor forward(const SparseTensor& in, Context& context) const override {
    std::map<std::string_view, SparseTensor> kept;  // only what a later concat reads
    SparseTensor x = in;
    for (const Layer& layer : layers_) {
      const Scope scope(context, layer.row->name);
      if (layer.module) {
        x = layer.module->forward(x, context);
      } else {
        const SparseTensor parts[] = {x, kept.at(layer.row->key)};
        x = concat(parts, context.exec);
      }
      if (skips_.count(layer.row->name) != 0) kept[layer.row->name] = x;
    }
    return x;
  }

  void parameters(const std::string& prefix, std::vector<Parameter>& out) override {
    for (const Layer& layer : layers_) {
      if (layer.module) layer.module->parameters(prefix + std::string(layer.row->name) + ".", out);
    }
  }

 private:
  struct Layer {
    const LayerRow* row;
    std::unique_ptr<Module> module;  // none for a concat
  };
  std::vector<Layer> layers_;
  std::set<std::string_view> skips_;
};

}  // namespace

std::unique_ptr<Module> make_table_network(const LayerTable& table) {
  return std::make_unique<TableNetwork>(table);
}

std::string markdown(const LayerTable& table) {
  std::string text =
      "| layer | kind | C_in | C_out | kernel | stride | padding | bias | then | key |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const LayerRow& row : table.rows) {
    const bool strided = row.kind == RowKind::kRegular;
    const bool convolves = row.kind != RowKind::kConcat;
    const bool residual = row.kind == RowKind::kResidual;
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                   row.name, kRowKindNames[static_cast<int>(row.kind)], row.c_in, row.c_out,
                   convolves ? dims(row.kernel).joined('x') : "", strided ? dims(row.stride).joined('x') : "",
                   strided ? dims(row.padding).joined('x') : "", row.bias || residual ? "yes" : "",
                   residual || row.tail == Tail::kNormRelu ? "norm, relu" : "", row.key);
  }
  return text;
}

}  // namespace aerogel::nn
