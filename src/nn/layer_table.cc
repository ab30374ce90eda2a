#include "nn/layer_table.h"

#include <iterator>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/sites.h"

#include "nn/decoder_blocks.h"
#include "nn/pointwise_layers.h"
#include "nn/scope.h"

namespace aerogel::nn {
namespace {

/// What a row is made of: a convolution whose parts have dotted names of their own, a module that names its
/// parts behind the row's name, or a step without weights.
enum class Form : std::uint8_t { kConvolution, kModule, kStep };

struct Kind {
  std::string_view name;
  Form form;
};

constexpr Kind kKinds[] = {
    {"submanifold", Form::kConvolution},
    {"regular", Form::kConvolution},
    {"inverse", Form::kConvolution},
    {"residual", Form::kModule},
    {"linear", Form::kModule},
    {"layer norm", Form::kModule},
    {"convnext", Form::kModule},
    {"channels to space", Form::kModule},
    {"subdivide", Form::kModule},
    {"concat", Form::kStep},
    {"add", Form::kStep},
    {"add on the union", Form::kStep},
    {"bird's eye", Form::kStep},
};

const Kind& kind_of(const LayerRow& row) { return kKinds[static_cast<int>(row.kind)]; }

constexpr std::string_view kTailNames[] = {"", "norm, relu", "leaky relu, norm"};

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
  switch (row.kind) {
    case RowKind::kResidual:
      return std::make_unique<ResidualBlock>(options, norm_eps, row.residual);
    case RowKind::kLinear:
      return std::make_unique<LinearLayer>(row.c_in, row.c_out, row.bias);
    case RowKind::kLayerNorm:
      return std::make_unique<LayerNormLayer>(row.c_out, norm_eps, false);
    case RowKind::kConvNext:
      return std::make_unique<ConvNextBlock>(row.c_out);
    case RowKind::kChannelsUp:
      return std::make_unique<ChannelToSpaceUpBlock>(row.c_in, row.c_out);
    case RowKind::kSubdivideUp:
      return std::make_unique<SubdivideUpBlock>(row.c_in, row.c_out);
    default:
      return std::make_unique<ConvBlock>(options, norm_eps, row.tail, names_of(row));
  }
}

SparseTensor step(const LayerRow& row, const SparseTensor& in, const SparseTensor& with,
                  const ExecOptions& exec) {
  switch (row.kind) {
    case RowKind::kAdd:
      return add(in, with, exec);
    case RowKind::kAddUnion:
      return add_union(in, with, exec);
    case RowKind::kBirdsEye:
      return bev(scale_coordinates(in, row.stride, {}, exec), 0, Reduce::kSum, exec);
    default: {
      const SparseTensor parts[] = {in, with};
      return concat(parts, exec);
    }
  }
}

class TableNetwork : public Module {
 public:
  explicit TableNetwork(LayerTable table) : table_(std::move(table)) {
    for (std::size_t at = 0; at < table_.rows.size(); ++at) {
      const LayerRow& row = table_.rows[at];
      for (const std::string& source : {row.in, row.with}) {
        if (!source.empty()) last_reader_[place(row, source)] = at;
      }
      modules_.push_back(kind_of(row).form == Form::kStep ? nullptr : make_row(row, table_.norm_eps));
      place_[row.name] = at;
    }
  }

  SparseTensor forward(const SparseTensor& in, Context& context) const override {
    std::map<std::size_t, SparseTensor> kept;  // row → its output, while a later row reads it
    SparseTensor x = in;
    for (std::size_t at = 0; at < modules_.size(); ++at) {
      const LayerRow& row = table_.rows[at];
      const auto take = [&](const std::string& name) {
        const auto source = kept.find(place(row, name));
        SparseTensor value = source->second;
        if (last_reader_.at(source->first) == at) kept.erase(source);
        return value;
      };
      const SparseTensor with = row.with.empty() ? SparseTensor{} : take(row.with);
      if (!row.in.empty()) x = take(row.in);
      if (kind_of(row).form == Form::kConvolution) {
        x = modules_[at]->forward(x, context);
      } else {
        const Scope scope(context, row.name);
        x = modules_[at] ? modules_[at]->forward(x, context) : step(row, x, with, context.exec);
      }
      if (last_reader_.count(at) != 0) kept[at] = x;
    }
    return x;
  }

  void parameters(const std::string& prefix, std::vector<Parameter>& out) override {
    for (std::size_t at = 0; at < modules_.size(); ++at) {
      const LayerRow& row = table_.rows[at];
      if (!modules_[at]) continue;
      modules_[at]->parameters(kind_of(row).form == Form::kModule ? prefix + row.name + "." : prefix, out);
    }
  }

 private:
  std::size_t place(const LayerRow& row, const std::string& source) const {
    const auto it = place_.find(source);
    if (it == place_.end())
      throw InvalidArgument(
          fmt::format("[make_network] {} reads {}, which is no row before it", row.name, source));
    return it->second;
  }

  LayerTable table_;
  std::vector<std::unique_ptr<Module>> modules_;    // none for a step
  std::map<std::string, std::size_t> place_;        // row name → its number
  std::map<std::size_t, std::size_t> last_reader_;  // of rows that are read by name
};

}  // namespace

std::unique_ptr<Module> make_table_network(LayerTable table) {
  return std::make_unique<TableNetwork>(std::move(table));
}

std::string markdown(const LayerTable& table) {
  std::string text =
      "| layer | kind | reads | C_in | C_out | kernel | stride | padding | bias | then | key |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const LayerRow& row : table.rows) {
    const bool convolves = kind_of(row).form == Form::kConvolution;
    const bool windowed = convolves || row.kind == RowKind::kResidual;
    const std::string reads = row.in + (row.in.empty() || row.with.empty() ? "" : ", ") + row.with;
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                   row.name, kind_of(row).name, reads, row.c_in, row.c_out,
                   windowed ? row.kernel.joined('x') : "", row.stride.joined('x'),
                   row.kind == RowKind::kRegular ? padding_text(row) : "", row.bias ? "yes" : "",
                   convolves                        ? kTailNames[static_cast<int>(row.tail)]
                   : row.kind == RowKind::kResidual ? "norm, relu"
                                                    : "",
                   row.key);
  }
  return text;
}

}  // namespace aerogel::nn
