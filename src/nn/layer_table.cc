#include "nn/layer_table.h"

#include <iterator>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/elementwise.h"

#include "nn/pointwise_layers.h"
#include "nn/scope.h"

namespace aerogel::nn {
namespace {

constexpr std::string_view kRowKindNames[] = {"submanifold", "regular", "inverse",
                                              "residual",    "linear",  "concat"};

bool convolves(const LayerRow& row) { return row.kind != RowKind::kConcat && row.kind != RowKind::kLinear; }

/// Its module names its parts behind the row's name; the others' parts have dotted names of their own.
bool is_scope(const LayerRow& row) { return row.kind == RowKind::kResidual || row.kind == RowKind::kLinear; }

ConvKind conv_kind(RowKind kind) {
  if (kind == RowKind::kRegular) return ConvKind::kRegular;
  return kind == RowKind::kInverse ? ConvKind::kInverse : ConvKind::kSubmanifold;
}

std::string padding_text(const LayerRow& row) {
  return row.sites == SiteRule::kMinkowski ? "minkowski sites" : row.padding.joined('x');
}

BlockNames names_of(const LayerRow& row) {
  const std::string own = row.tail == Tail::kNone ? row.name : row.name + ".0";
  return {row.conv.empty() ? own : row.conv, row.norm.empty() ? row.name + ".1" : row.norm};
}

std::unique_ptr<Module> make_row(const LayerRow& row, double norm_eps) {
  ConvLayerOptions options;
  options.kind = conv_kind(row.kind);
  options.c_in = row.c_in;
  options.c_out = row.c_out;
  options.kernel = row.kernel;
  options.bias = row.bias;
  options.key = row.key;
  if (row.spconv_pointwise) options.pointwise = PointwiseLayout::kSpconvReinterpreted;
  if (row.kind == RowKind::kRegular) {
    options.stride = row.stride;
    options.padding = row.padding;
    options.sites = row.sites;
  }
  if (row.kind == RowKind::kLinear) return std::make_unique<LinearLayer>(row.c_in, row.c_out, row.bias);
  if (row.kind == RowKind::kResidual) return std::make_unique<ResidualBlock>(options, norm_eps, row.residual);
  return std::make_unique<ConvBlock>(options, norm_eps, row.tail, names_of(row));
}

class TableNetwork : public Module {
 public:
  explicit TableNetwork(LayerTable table) : table_(std::move(table)) {
    for (std::size_t at = 0; at < table_.rows.size(); ++at) {
      const LayerRow& row = table_.rows[at];
      if (!row.with.empty()) {
        const auto source = place_.find(row.with);
        if (source == place_.end())
          throw InvalidArgument(
              fmt::format("[make_network] {} reads {}, which is no row before it", row.name, row.with));
        last_reader_[source->second] = at;
      }
      modules_.push_back(row.kind == RowKind::kConcat ? nullptr : make_row(row, table_.norm_eps));
      place_[row.name] = at;
    }
  }

  SparseTensor forward(const SparseTensor& in, Context& context) const override {
    std::map<std::size_t, SparseTensor> kept;  // row → its output, while a later row reads it
    SparseTensor x = in;
    for (std::size_t at = 0; at < modules_.size(); ++at) {
      const LayerRow& row = table_.rows[at];
      if (is_scope(row)) {
        const Scope scope(context, row.name);
        x = modules_[at]->forward(x, context);
      } else if (modules_[at]) {
        x = modules_[at]->forward(x, context);
      } else {
        const Scope scope(context, row.name);
        const std::size_t source = place_.at(row.with);
        const SparseTensor parts[] = {std::move(x), kept.at(source)};
        if (last_reader_.at(source) == at) kept.erase(source);
        x = concat(parts, context.exec);
      }
      if (last_reader_.count(at) != 0) kept[at] = x;
    }
    return x;
  }

  void parameters(const std::string& prefix, std::vector<Parameter>& out) override {
    for (std::size_t at = 0; at < modules_.size(); ++at) {
      const LayerRow& row = table_.rows[at];
      if (!modules_[at]) continue;
      modules_[at]->parameters(is_scope(row) ? prefix + row.name + "." : prefix, out);
    }
  }

 private:
  LayerTable table_;
  std::vector<std::unique_ptr<Module>> modules_;  // none for a concat
  std::map<std::string, std::size_t> place_;      // row name → its number
  std::map<std::size_t, std::size_t> last_reader_;
};

}  // namespace

std::unique_ptr<Module> make_table_network(LayerTable table) {
  return std::make_unique<TableNetwork>(std::move(table));
}

std::string markdown(const LayerTable& table) {
  std::string text =
      "| layer | kind | C_in | C_out | kernel | stride | padding | bias | then | key, with |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const LayerRow& row : table.rows) {
    const bool strided = row.kind == RowKind::kRegular;
    const bool residual = row.kind == RowKind::kResidual;
    const bool normed = convolves(row) && (residual || row.tail == Tail::kNormRelu);
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                   row.name, kRowKindNames[static_cast<int>(row.kind)], row.c_in, row.c_out,
                   convolves(row) ? row.kernel.joined('x') : "", strided ? row.stride.joined('x') : "",
                   strided ? padding_text(row) : "", row.bias ? "yes" : "", normed ? "norm, relu" : "",
                   row.key.empty() ? row.with : row.key);
  }
  return text;
}

}  // namespace aerogel::nn
