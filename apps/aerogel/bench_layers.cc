#include "bench_layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "aerogel/error.h"
#include "aerogel/io.h"
#include "aerogel/ops/convolution.h"

#include "cli.h"
#include "conv/problem_string.h"
#include "geometry.h"

namespace aerogel::cli {

namespace {

const Dims kDefaultGrid{41, 1440, 1440};  // for levels named L0, L1, …: nuScenes at 0.075 m

/// The extents at the front of "41x1440x1440" or "180x180-ish"; empty if there are none.
Dims leading_extents(const std::string& text) {
  const std::size_t end = text.find_first_not_of("0123456789x");
  const std::string front = text.substr(0, end);
  if (front.empty() || front.front() == 'x' || front.back() == 'x') return {};
  return parse_dims(front, "resolution");
}

/// "3" → 3x3x3, "3x1x1", "3x3 (2D)" → 3x3; `ndim` axes.
Dims kernel_of(const std::string& text, int ndim) {
  const Dims dims = leading_extents(text);
  return dims.size() == 1 ? Dims::filled(ndim, dims[0]) : dims;
}

/// "2-1-1" or "2".
Dims per_axis(const std::string& text, int ndim) {
  std::string extents = text;
  std::replace(extents.begin(), extents.end(), '-', 'x');
  const Dims dims = leading_extents(extents);
  if (dims.empty()) return {};  // "mixed"
  return dims.size() == 1 ? Dims::filled(ndim, dims[0]) : dims;
}

BenchSites from_coordinates(const std::string& name, const Coordinates& set) {
  return {name, set.indices(), set.spatial_shape(), set.batch_size()};
}

Coordinates coordinates_of(const BenchSites& sites) {
  return Coordinates::create(sites.indices, sites.spatial_shape, sites.batch_size);
}

/// The sites that a 3-wide layer of stride 2 makes.
BenchSites halve(const BenchSites& sites) {
  const int ndim = sites.spatial_shape.size();
  const KernelSpec spec = KernelSpec::make(ConvKind::kRegular, Dims::filled(ndim, 3), Dims::filled(ndim, 2),
                                           Dims::filled(ndim, 1));
  return from_coordinates(sites.name + "/2", build_kernel_map(coordinates_of(sites), spec)->new_coordinates);
}

/// Seen from above: (batch, y, x) of every column that holds a site.
BenchSites flatten(const BenchSites& sites) {
  std::set<std::array<std::int32_t, 3>> columns;
  const auto* row = sites.indices.data<std::int32_t>();
  for (std::int64_t i = 0; i < sites.indices.size(0); ++i, row += 4) columns.insert({row[0], row[2], row[3]});
  Tensor indices = Tensor::empty({static_cast<std::int64_t>(columns.size()), 3}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  for (const auto& column : columns) to = std::copy(column.begin(), column.end(), to);
  return {sites.name + "/bev", indices, {sites.spatial_shape[1], sites.spatial_shape[2]}, sites.batch_size};
}

/// About `factor` times as many sites with the neighbourhoods they have: the first rows, or several batch
/// items.
BenchSites scale(const BenchSites& sites, double factor) {
  const std::int64_t n = sites.indices.size(0);
  const auto copies = static_cast<std::int64_t>(std::ceil(factor));
  const auto kept = static_cast<std::int64_t>(static_cast<double>(n) * factor);
  const std::int64_t width = sites.indices.size(1);
  Tensor indices = Tensor::empty({kept, width}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  for (std::int64_t i = 0; i < kept; ++i, to += width) {
    std::copy_n(sites.indices.data<std::int32_t>() + (i % n) * width, width, to);
    to[0] = static_cast<std::int32_t>(i / n);
  }
  return {fmt::format("{}*{:.2g}", sites.name, factor), indices, sites.spatial_shape, copies};
}

/// Sites by resolution, made once: shells, or a sweep voxelized to a model's grid and strided to a level.
class SiteSource {
 public:
  const BenchSites& shell_of(std::int64_t resolution) {
    return make(fmt::format("shell:{}", resolution), [&] { return from_geometry(shell(resolution)); });
  }

  const BenchSites& sweep_of(const Dims& grid, int level) {
    const std::string name = fmt::format("lidar:0@{}/{}", grid.joined('x'), 1 << level);
    if (level > 0) return make(name, [&] { return rename(halve(sweep_of(grid, level - 1)), name); });
    return make(name, [&] {
      SweepGrid sweep;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        sweep.voxel[axis] =
            (sweep.hi[axis] - sweep.lo[axis]) / static_cast<double>(grid[2 - static_cast<int>(axis)]);
      }
      return rename(from_geometry(lidar(0, sweep)), name);
    });
  }

 private:
  template <class Make>
  const BenchSites& make(const std::string& name, const Make& how) {
    const auto found = made_.find(name);
    return found != made_.end() ? found->second : made_.emplace(name, how()).first->second;
  }
  static BenchSites from_geometry(const Geometry& geometry) {
    return {geometry.name, Tensor::from<std::int32_t>({geometry.sites(), 4}, geometry.coords),
            Dims(geometry.spatial_shape), 1};
  }
  static BenchSites rename(BenchSites sites, const std::string& name) {
    sites.name = name;
    return sites;
  }

  std::map<std::string, BenchSites> made_;
};

/// The grid that a model's first row is voxelized to.
Dims base_grid(const LayerLine& first) {
  const Dims extents = leading_extents(first.resolution);
  return extents.size() == 3 ? extents : kDefaultGrid;
}

/// The fine sites of a row: those that a submanifold or strided layer reads and an inverse one writes.
BenchSites sites_of(SiteSource& source, const LayerLine& line, const Dims& base, bool strided) {
  const Dims extents = leading_extents(line.resolution);
  if (extents.size() == 1) return source.shell_of(extents[0]);
  int level = 0;
  if (line.resolution.front() == 'L') {
    level = std::stoi(line.resolution.substr(1));
  } else {
    const double ratio = static_cast<double>(base[2]) / static_cast<double>(extents[extents.size() - 1]);
    level = static_cast<int>(std::lround(std::log2(std::max(ratio, 1.0))));
  }
  // A strided row names its output's resolution.
  if (strided && line.type == "spconv" && per_axis(line.stride, 3)[2] > 1) level = std::max(level - 1, 0);
  const BenchSites& sites = source.sweep_of(base, level);
  return extents.size() == 2 ? flatten(sites) : sites;
}

std::vector<std::string> split_alternatives(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, '|');) parts.push_back(part);
  return parts;
}

/// Why a row cannot run, or nothing after it ran.
std::optional<std::string> run_line(const LayerBench& layers, BenchReport& report, SiteSource& source,
                                    const LayerLine& line, const Dims& base) {
  const bool known_resolution =
      (line.resolution.size() > 1 && line.resolution[0] == 'L' && std::isdigit(line.resolution[1])) ||
      !leading_extents(line.resolution).empty();
  if (!known_resolution) return fmt::format("resolution '{}' is not understood", line.resolution);
  if (line.typical_sites > layers.max_sites)
    return fmt::format("{} sites are over --max-sites", line.typical_sites);
  for (const std::string& kernel : split_alternatives(line.kernel)) {
    const bool strided = line.type != "subm";
    BenchSites sites = sites_of(source, line, base, strided);
    const int ndim = sites.spatial_shape.size();
    const ConvKind kind = line.type == "subm"      ? ConvKind::kSubmanifold
                          : line.type == "inverse" ? ConvKind::kInverse
                                                   : ConvKind::kRegular;
    const Dims stride = strided ? per_axis(line.stride, ndim) : Dims{};
    const Dims padding = strided ? per_axis(line.padding, ndim) : Dims{};
    BenchCase bench;
    bench.spec = KernelSpec::make(kind, kernel_of(kernel, ndim), stride, padding);
    KernelSpec forward = bench.spec;
    if (kind == ConvKind::kInverse) forward.kind = ConvKind::kRegular;
    const auto outputs = [&] {
      if (kind != ConvKind::kRegular || forward.is_pointwise()) return sites.indices.size(0);
      return build_kernel_map(coordinates_of(sites), forward)->n_out;
    };
    const double factor =
        static_cast<double>(line.typical_sites) / static_cast<double>(std::max<std::int64_t>(outputs(), 1));
    if (line.typical_sites > 0 && (factor > 2 || factor < 0.5)) sites = scale(sites, factor);
    sites.name = fmt::format("{}|{}|{}", line.model, line.layer, sites.name);
    bench.sites = &sites;
    bench.c_in = line.c_in;
    bench.c_out = line.c_out;
    bench.exec = layers.exec;
    bench.seed = layers.seed;
    bench.max_seconds = layers.max_seconds;
    report.add(bench, time_map_ms(sites, bench.spec, bench.exec));
  }
  return std::nullopt;
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
  std::stringstream text(io::read_file(layers.file));
  std::string raw;
  std::getline(text, raw);
  const std::vector<std::string> titles = split_csv(raw);
  const auto column = [&](const char* title) {
    return std::find(titles.begin(), titles.end(), title) - titles.begin();
  };
  const auto width = static_cast<std::ptrdiff_t>(titles.size());
  if (column("oh") < width || column("groups") < width) {
    std::int64_t rows = 0;
    while (std::getline(text, raw)) rows += raw.empty() ? 0 : 1;
    report.say(
        fmt::format("{}: {} rows of dense conv2d were not run: this version has no dense convolution yet",
                    layers.file, rows));
    return;
  }
  for (const char* title : {"model", "layer", "cin", "cout", "kernel", "resolution", "typical_voxels"}) {
    if (column(title) == width)
      throw FormatError(layers.file, 0, fmt::format("expected a column '{}' in the first line", title));
  }
  report.say(fmt::format("{}: every row runs in f32, whatever its dtype column says", layers.file));
  SiteSource source;
  std::string model;
  Dims base;
  std::int64_t skipped = 0;
  std::int64_t ran = 0;
  for (std::int64_t number = 2; std::getline(text, raw); ++number) {
    throw_if_interrupted();
    if (raw.empty()) continue;
    const std::vector<std::string> fields = split_csv(raw);
    const auto field = [&](const char* title, const char* otherwise) {
      const auto at = static_cast<std::size_t>(column(title));
      return at < fields.size() && !fields[at].empty() ? fields[at] : std::string(otherwise);
    };
    const auto count = [&](const char* title) {
      const std::string value = field(title, "0");
      char* end = nullptr;
      const double parsed = std::strtod(value.c_str(), &end);
      if (*end != '\0' || parsed < 0) {
        throw FormatError(layers.file, -1,
                          fmt::format("line {}: {} is '{}', expected a count", number, title, value));
      }
      return static_cast<std::int64_t>(parsed);
    };
    LayerLine line{field("model", "?"),     field("layer", "?"),  count("cin"),
                   count("cout"),           field("kernel", "3"), field("resolution", ""),
                   count("typical_voxels"), field("stride", "1"), field("pad", ""),
                   field("type", "subm")};
    if (line.model != model) {
      model = line.model;
      base = base_grid(line);
    }
    std::optional<std::string> reason;
    try {
      reason = run_line(layers, report, source, line, base);
    } catch (const InvalidArgument& error) {
      reason = error.what();
    }
    if (reason) {
      ++skipped;
      report.say(fmt::format("line {} not run ({}, {}): {}", number, line.model, line.layer, *reason));
    } else {
      ++ran;
    }
  }
  report.say(fmt::format("{}: {} rows run, {} not run", layers.file, ran, skipped));
}

}  // namespace aerogel::cli
