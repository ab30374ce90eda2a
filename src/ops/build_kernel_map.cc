#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"

#include "kernel_map/map_cache.h"
#include "ops/find_map.h"
#include "ops/run_op.h"

namespace aerogel {
namespace {

FoundMap find_map_of(const Coordinates& in, const KernelSpec& spec, const ExecOptions& exec) {
  return find_or_build_map(in, spec, [&]() -> std::shared_ptr<const KernelMap> {
    const Stopwatch watch;
    std::shared_ptr<KernelMap> map;
    if (spec.kind == ConvKind::kInverse) {
      KernelSpec regular = spec;
      regular.kind = ConvKind::kRegular;
      map = std::const_pointer_cast<KernelMap>(swap_map(*find_map_of(in, regular, exec).map));
      map->spec = spec;
    } else {
      map = std::make_shared<KernelMap>();
      MapArgs args;
      args.in = in;
      args.spec = spec;
      args.meter = exec.meter.get();
      args.out = map.get();
      OpRecord record;
      record.problem = fmt::format("build_kernel_map:{}:n={}", spec.str(), in.size());
      run_op<MapArgs>("build_kernel_map", &KernelTables::build_kernel_map, args, exec, record,
                      DryRun::kStillRuns);
    }
    map->build_ms = watch.ms();
    return map;
  });
}

}  // namespace

FoundMap find_map(const Coordinates& in, const KernelSpec& spec, const ExecOptions& exec, OpRecord& record) {
  if (!in.defined()) throw InvalidArgument("[build_kernel_map] undefined coordinates");
  if (!(KernelSpec::make(spec.kind, spec.kernel, spec.stride, spec.padding, spec.dilation,
                         spec.output_padding, spec.sites) == spec)) {
    throw InvalidArgument(
        fmt::format("[build_kernel_map] incomplete geometry {}; KernelSpec::make fills it", spec.str()));
  }
  spec.output_shape(
      in.spatial_shape());  // refuses a wrong ndim and vanishing extents before anything is cached
  const Stopwatch watch;
  FoundMap found = find_map_of(in, spec, exec);
  record.pairs = found.map->pairs();
  record.map_reused = found.reused;
  if (!found.reused) {
    record.map_ms = watch.ms();
    const KernelMap& map = *found.map;
    record.map_bytes = map.in_rows.nbytes() + map.out_rows.nbytes() + map.offset_begin.nbytes();
    if (map.new_coordinates.defined()) record.map_bytes += map.new_coordinates.indices().nbytes();
  }
  return found;
}

std::shared_ptr<const KernelMap> build_kernel_map(const Coordinates& in, const KernelSpec& spec,
                                                  const ExecOptions& exec) {
  OpRecord record;
  return find_map(in, spec, exec, record).map;
}

}  // namespace aerogel
