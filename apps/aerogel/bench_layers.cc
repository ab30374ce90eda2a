#include "bench_layers.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "bench_sites.h"
#include "cli.h"
#include "conv/problem_string.h"

namespace aerogel::cli {

namespace {

using SharedSites = std::shared_ptr<const BenchSites>;

/// One line of a layer table, as far as it is needed.
struct LayerLine {
  BenchLabel label;
  std::int64_t c_in = 0;
  std::int64_t c_out = 0;
  std::string kernel;      // "3", "3x1x1", "3x3|1x1 (2D)"
  std::string resolution;  // "64", "41x1440x1440", "180x180-ish", "L1"
  std::int64_t typical_sites = 0;
  std::string stride;   // "2", "2-1-1"
  std::string padding;  // "1", "0-1-1", "mixed"
  std::string type;     // "subm", "spconv", "inverse"
};

/// The extents at the front of "41x1440x1440" or "180x180-ish"; empty if there are none.
Dims leading_extents(const std::string& text) {
  const std::string front = text.substr(0, text.find_first_not_of("0123456789x"));
  if (front.empty() || front.front() == 'x' || front.back() == 'x') return {};
  return parse_dims(front, "resolution");
}

/// "3", "2-1-1", "3x3 (2D)" on `ndim` axes; empty for words.
Dims per_axis(std::string text, int ndim) {
  std::replace(text.begin(), text.end(), '-', 'x');
  const Dims dims = leading_extents(text);
  return dims.size() == 1 ? Dims::filled(ndim, dims[0]) : dims;
}

std::vector<std::string> split_alternatives(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, '|');) parts.push_back(part);
  return parts;
}

bool near(std::int64_t sites, std::int64_t typical) {
  return typical <= 0 || (sites <= 2 * typical && 2 * sites >= typical);
}

/// Sets that several rows share, made once.
class SitePool {
 public:
  SharedSites sweep(const Dims& grid, std::int64_t target) {
    return make(fmt::format("{}~{}", grid.joined('x'), target), [&] { return sweep_sites(grid, target); });
  }
  SharedSites shell_of(std::int64_t target) {
    return make(fmt::format("shell~{}", target), [&] { return shell_sites(target); });
  }
  SharedSites named(const std::string& spec) {
    return make(spec, [&] { return bench_sites(spec, "", false, 0); });
  }
  SharedSites strided_of(const SharedSites& sites, const KernelSpec& spec) {
    return make(sites->name + spec.str(), [&] { return strided(*sites, spec); });
  }
  SharedSites halved(const SharedSites& sites) {
    return make(sites->name + "/2", [&] { return halve(*sites); });
  }

 private:
  template <class Make>
  SharedSites make(const std::string& name, const Make& how) {
    SharedSites& slot = made_[name];
    if (!slot) slot = std::make_shared<const BenchSites>(how());
    return slot;
  }
  std::map<std::string, SharedSites> made_;
};

/// The levels of one model, as its rows come.
class Levels {
 public:
  Levels(SitePool& pool, const std::string& model)
      : pool_(&pool), indoors_(model.find("ScanNet") != std::string::npos) {}

  /// The sites of a row's resolution, made if this is the first row of it.
  SharedSites at(const LayerLine& line) {
    const auto found = made_.find(line.resolution);
    if (found != made_.end() && near(found->second->size(), line.typical_sites)) return last_ = found->second;
    const Dims extents = leading_extents(line.resolution);
    if (extents.size() == 1) return cube(extents[0], line.typical_sites);
    if (extents.size() == 2) return pool_->sweep(extents, line.typical_sites);
    if (found == made_.end() && last_ && last_->spatial_shape.size() == 3) {
      const SharedSites next = pool_->halved(last_);
      if (near(next->size(), line.typical_sites)) return keep(line.resolution, next);
    }
    return keep(line.resolution, of_size(grid_of(line), line.typical_sites));
  }

  /// What a strided row reads. Its outputs are the sites of its resolution from here on.
  SharedSites below(const LayerLine& line, const KernelSpec& spec) {
    const Dims extents = leading_extents(line.resolution);
    if (extents.size() == 2) return pool_->sweep(extents, line.typical_sites);
    if (!last_ || last_->spatial_shape.size() != spec.ndim())
      throw InvalidArgument("no row before it has the sites that it reads");
    SharedSites in = last_;
    SharedSites out = pool_->strided_of(in, spec);
    double target = static_cast<double>(in->size());
    for (int attempt = 0; attempt < 4 && !near(out->size(), line.typical_sites); ++attempt) {
      target *= static_cast<double>(line.typical_sites) /
                static_cast<double>(std::max<std::int64_t>(out->size(), 1));
      in = of_size(last_->spatial_shape, static_cast<std::int64_t>(target));
      out = pool_->strided_of(in, spec);
    }
    keep(line.resolution, out);
    return in;
  }

 private:
  SharedSites keep(const std::string& resolution, const SharedSites& sites) {
    return last_ = made_[resolution] = sites;
  }
  SharedSites of_size(const Dims& grid, std::int64_t target) {
    return indoors_ ? pool_->shell_of(target) : pool_->sweep(grid, target);
  }
  /// A shell of that resolution; of another one, or random fill, where the row has other counts of sites.
  SharedSites cube(std::int64_t resolution, std::int64_t typical) {
    const double expected = 2.67 * static_cast<double>(resolution * resolution);
    const double ratio = typical > 0 ? static_cast<double>(typical) / expected : 1;
    if (ratio > 4) {
      const double cells = std::pow(static_cast<double>(resolution), 3);
      return pool_->named(
          fmt::format("uniform:{}:{:.3g}", resolution, std::min(1.0, static_cast<double>(typical) / cells)));
    }
    if (ratio > 1.95 || ratio < 0.52) return pool_->shell_of(typical);
    return pool_->named(fmt::format("shell:{}", resolution));
  }
  /// "L3" is three levels below a grid of 0.1 m cells.
  static Dims grid_of(const LayerLine& line) {
    Dims grid = leading_extents(line.resolution);
    if (grid.size() == 3) return grid;
    grid = {47, 1408, 1408};
    for (int level = std::atoi(line.resolution.c_str() + 1); level > 0; --level) {
      for (int axis = 0; axis < 3; ++axis) grid[axis] = std::max<std::int64_t>(1, (grid[axis] + 1) / 2);
    }
    return grid;
  }

  SitePool* pool_;
  bool indoors_;
  std::map<std::string, SharedSites> made_;
  SharedSites last_;
};

/// Whether a resolution is one that bench_layers explains.
bool is_resolution(const std::string& text) {
  const bool level = text.size() == 2 && text[0] == 'L' && text[1] >= '0' && text[1] <= '9';
  const Dims extents = leading_extents(text);
  return level || (!extents.empty() && extents.size() <= 3);
}

/// Measures a row; says why not where it cannot.
std::optional<std::string> run_line(const LayerBench& layers, BenchReport& report, Levels& levels,
                                    const LayerLine& line) {
  if (!is_resolution(line.resolution))
    return fmt::format("resolution '{}' is not understood", line.resolution);
  const bool too_large = line.typical_sites > layers.max_sites;
  const std::string why_large = fmt::format("{} sites are over --max-sites", line.typical_sites);
  if (too_large && leading_extents(line.resolution).size() == 1) return why_large;
  if (line.type != "subm" && line.type != "spconv" && line.type != "inverse")
    return fmt::format("type '{}' is not understood", line.type);
  const int ndim = leading_extents(line.resolution).size() == 2 ? 2 : 3;
  for (const std::string& kernel_text : split_alternatives(line.kernel)) {
    const Dims kernel = per_axis(kernel_text, ndim);
    if (kernel.size() != ndim) return fmt::format("kernel '{}' is not understood", kernel_text);
    BenchCase bench;
    SharedSites sites;
    if (line.type == "subm") {
      bench.spec = KernelSpec::make(ConvKind::kSubmanifold, kernel);
      sites = levels.at(line);
    } else {
      const Dims stride = per_axis(line.stride, ndim);
      const Dims padding = per_axis(line.padding, ndim);
      const bool inverse = line.type == "inverse";
      bench.spec =
          KernelSpec::make(inverse ? ConvKind::kInverse : ConvKind::kRegular, kernel, stride, padding);
      sites = inverse ? levels.at(line) : levels.below(line, bench.spec);
    }
    if (too_large) return why_large;  // its sites are still what later rows of the model start from
    bench.sites = sites.get();
    bench.c_in = line.c_in;
    bench.c_out = line.c_out;
    bench.exec = layers.exec;
    bench.seed = layers.seed;
    bench.max_seconds = layers.max_seconds;
    const BenchResult result = report.add(bench, line.label);
    if (!near(result.sites_out, line.typical_sites)) {
      report.say(fmt::format("{}, {}: {} output sites stand for {}, more than a factor of 2 apart",
                             line.label.model, line.label.layer, result.sites_out, line.typical_sites));
    }
  }
  return std::nullopt;
}

/// A layer table: titles and rows.
class Table {
 public:
  explicit Table(const std::string& path) : path_(path), text_(io::read_file(path)) {
    std::string raw;
    std::getline(text_, raw);
    titles_ = split_csv(raw);
  }
  bool has(const std::string& title) const {
    return std::find(titles_.begin(), titles_.end(), title) != titles_.end();
  }
  bool next() {
    for (std::string raw; std::getline(text_, raw);) {
      ++number_;
      if (raw.empty() || raw == "\r") continue;
      fields_ = split_csv(raw);
      return true;
    }
    return false;
  }
  std::int64_t number() const { return number_; }
  std::string field(const std::string& title, const std::string& otherwise) const {
    const auto at =
        static_cast<std::size_t>(std::find(titles_.begin(), titles_.end(), title) - titles_.begin());
    return at < fields_.size() && !fields_[at].empty() ? fields_[at] : otherwise;
  }
  std::int64_t count(const std::string& title, const std::string& otherwise) const {
    const std::string value = field(title, otherwise);
    char* end = nullptr;
    const double parsed = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0' || !(parsed >= 0 && parsed < 1e12))
      throw InvalidArgument(fmt::format("{} is '{}', expected a count", title, value));
    return static_cast<std::int64_t>(parsed);
  }

 private:
  std::string path_;
  std::stringstream text_;
  std::vector<std::string> titles_;
  std::vector<std::string> fields_;
  std::int64_t number_ = 1;
};

LayerLine line_of(const Table& table) {
  LayerLine line;
  line.label = {table.field("model", "?"), table.field("layer", "?"), table.count("count", "1"), 0};
  line.c_in = table.count("cin", "");
  line.c_out = table.count("cout", "");
  line.kernel = table.field("kernel", "");
  line.resolution = table.field("resolution", "");
  line.typical_sites = line.label.typical_sites = table.count("typical_voxels", "0");
  line.stride = table.field("stride", "1");
  line.padding = table.field("pad", "");
  line.type = table.field("type", "subm");
  return line;
}

}  // namespace

std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

void bench_layers(const LayerBench& layers, BenchReport& report) {
  Table table(layers.file);
  if (table.has("kh") || table.has("groups")) {
    std::int64_t rows = 0;
    while (table.next()) ++rows;
    report.say(
        fmt::format("{}: {} rows of dense conv2d were not run: this version has no dense convolution yet",
                    layers.file, rows));
    return;
  }
  for (const char* title : {"model", "layer", "cin", "cout", "kernel", "resolution", "typical_voxels"}) {
    if (!table.has(title))
      throw FormatError(layers.file, 0, fmt::format("expected a column '{}' in the first line", title));
  }
  report.say(fmt::format("{}: every row runs in f32, whatever its dtype column says", layers.file));
  SitePool pool;
  std::map<std::string, Levels> models;
  std::int64_t ran = 0;
  std::int64_t skipped = 0;
  while (table.next()) {
    throw_if_interrupted();
    std::optional<std::string> reason;
    const std::string model = table.field("model", "?");
    try {
      Levels& levels = models.try_emplace(model, pool, model).first->second;
      reason = run_line(layers, report, levels, line_of(table));
    } catch (const InvalidArgument& error) {
      reason = error.what();
    }
    ++(reason ? skipped : ran);
    if (reason)
      report.say(fmt::format("line {} not run ({}, {}): {}", table.number(), model, table.field("layer", "?"),
                             *reason));
  }
  report.say(fmt::format("{}: {} rows run, {} not run", layers.file, ran, skipped));
}

}  // namespace aerogel::cli
