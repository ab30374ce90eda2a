#include "aerogel/ops/pooling.h"

#include <limits>

#include <fmt/core.h>

#include "ops/checks.h"
#include "ops/find_map.h"
#include "ops/run_op.h"

namespace aerogel {
namespace {

SparseTensor run_pool(std::string_view op, PoolKind kind, float identity, const SparseTensor& in,
                      const Dims& kernel, const ConvOptions& options, PoolSites sites,
                      const ExecOptions& exec) {
  check_sparse(op, in);
  const ConvKind conv_kind = sites == PoolSites::kSubmanifold ? ConvKind::kSubmanifold : ConvKind::kRegular;
  const KernelSpec spec = KernelSpec::make(conv_kind, kernel, options.stride, options.padding,
                                           options.dilation, options.output_padding, options.sites);
  OpRecord record;
  const FoundMap found = find_map(in.coordinates, spec, exec, record);
  const Coordinates& out_sites =
      found.map->new_coordinates.defined() ? found.map->new_coordinates : in.coordinates;
  PoolArgs args;
  args.kind = kind;
  args.identity = identity;
  args.map = found.map.get();
  args.in = in.features.contiguous();
  args.out = Tensor::empty({found.map->n_out, in.channels()}, in.features.dtype(), exec);
  record.op = op;
  record.problem =
      fmt::format("{}:{}:n_in={}:n_out={}:pairs={}:c={}:dtype={}", op, spec.str(), in.sites(),
                  found.map->n_out, found.map->pairs(), in.channels(), dtype_name(in.features.dtype()));
  record.sites_in = in.sites();
  record.sites_out = found.map->n_out;
  record.c_in = record.c_out = in.channels();
  run_op<PoolArgs>("pool", &KernelTables::pool, args, exec, record);
  record.out = args.out;
  observe(exec, record);
  return {args.out, out_sites};
}

Tensor run_global_pool(std::string_view op, PoolKind kind, const SparseTensor& in, const ExecOptions& exec) {
  check_sparse(op, in);
  GlobalPoolArgs args;
  args.kind = kind;
  args.identity = -std::numeric_limits<float>::infinity();
  args.coordinates = in.coordinates;
  args.in = in.features.contiguous();
  args.out = Tensor::empty({in.coordinates.batch_size(), in.channels()}, in.features.dtype(), exec);
  OpRecord record;
  record.op = op;
  record.problem = fmt::format("{}:n={}:batch={}:c={}:dtype={}", op, in.sites(), in.coordinates.batch_size(),
                               in.channels(), dtype_name(in.features.dtype()));
  record.sites_in = in.sites();
  record.sites_out = in.coordinates.batch_size();
  record.c_in = record.c_out = in.channels();
  run_op<GlobalPoolArgs>("global_pool", &KernelTables::global_pool, args, exec, record);
  record.out = args.out;
  observe(exec, record);
  return args.out;
}

}  // namespace

SparseTensor max_pool(const SparseTensor& in, const Dims& kernel, const ConvOptions& options, PoolSites sites,
                      MaxIdentity identity, const ExecOptions& exec) {
  const float start = identity == MaxIdentity::kZero ? 0.0f : -std::numeric_limits<float>::infinity();
  return run_pool("max_pool", PoolKind::kMax, start, in, kernel, options, sites, exec);
}

SparseTensor avg_pool(const SparseTensor& in, const Dims& kernel, const ConvOptions& options, PoolSites sites,
                      const ExecOptions& exec) {
  return run_pool("avg_pool", PoolKind::kAvg, 0.0f, in, kernel, options, sites, exec);
}

SparseTensor sum_pool(const SparseTensor& in, const Dims& kernel, const ConvOptions& options, PoolSites sites,
                      const ExecOptions& exec) {
  return run_pool("sum_pool", PoolKind::kSum, 0.0f, in, kernel, options, sites, exec);
}

Tensor global_max_pool(const SparseTensor& in, const ExecOptions& exec) {
  return run_global_pool("global_max_pool", PoolKind::kMax, in, exec);
}

Tensor global_avg_pool(const SparseTensor& in, const ExecOptions& exec) {
  return run_global_pool("global_avg_pool", PoolKind::kAvg, in, exec);
}

Tensor global_sum_pool(const SparseTensor& in, const ExecOptions& exec) {
  return run_global_pool("global_sum_pool", PoolKind::kSum, in, exec);
}

}  // namespace aerogel
