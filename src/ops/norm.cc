#include "aerogel/ops/norm.h"

#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "ops/checks.h"
#include "ops/row_record.h"
#include "ops/run_op.h"

namespace aerogel {
namespace {

/// Fills what both kinds of norm share and allocates the output.
template <class Args>
void fill_norm(std::string_view op, const Tensor& in, const Norm& norm, const ExecOptions& exec, Args& args) {
  if (!(norm.eps >= 0))
    throw InvalidArgument(fmt::format("[{}] eps must be at least 0, got {}", op, norm.eps));
  args.in = in.contiguous();
  args.weight = per_channel(op, "weight", norm.weight, in.dtype(), in.size(1));
  args.bias = per_channel(op, "bias", norm.bias, in.dtype(), in.size(1));
  args.eps = norm.eps;
  args.out = Tensor::empty(in.shape(), in.dtype(), exec);
}

Tensor run_row_norm(std::string_view op, bool centred, const Tensor& in, const Norm& norm,
                    const ExecOptions& exec) {
  check_features(op, "features", in, {-1, -1});
  RowNormArgs args;
  fill_norm(op, in, norm, exec, args);
  args.centred = centred;
  OpRecord record = row_record(op, in.size(0), in.size(1), in.size(1), in.dtype());
  run_op<RowNormArgs>("row_norm", &KernelTables::row_norm, args, exec, record);
  record.out = args.out;
  observe(exec, record);
  return args.out;
}

SparseTensor run_group_norm(std::string_view op, const SparseTensor& in, std::int64_t groups,
                            const Norm& norm, const ExecOptions& exec) {
  check_sparse(op, in);
  if (groups < 1 || in.channels() % groups != 0) {
    throw InvalidArgument(
        fmt::format("[{}] groups must be at least 1 and divide C={}, got {}", op, in.channels(), groups));
  }
  GroupNormArgs args;
  fill_norm(op, in.features, norm, exec, args);
  args.coordinates = in.coordinates;
  args.groups = groups;
  OpRecord record = row_record(op, in.sites(), in.channels(), in.channels(), in.features.dtype());
  record.problem += fmt::format(":groups={}:batch={}", groups, in.coordinates.batch_size());
  run_op<GroupNormArgs>("group_norm", &KernelTables::group_norm, args, exec, record);
  record.out = args.out;
  observe(exec, record);
  return in.with_features(args.out);
}

}  // namespace

Tensor layer_norm(const Tensor& in, const Norm& norm, const ExecOptions& exec) {
  return run_row_norm("layer_norm", true, in, norm, exec);
}

SparseTensor layer_norm(const SparseTensor& in, const Norm& norm, const ExecOptions& exec) {
  check_sparse("layer_norm", in);
  return in.with_features(layer_norm(in.features, norm, exec));
}

Tensor rms_norm(const Tensor& in, const Norm& norm, const ExecOptions& exec) {
  return run_row_norm("rms_norm", false, in, norm, exec);
}

SparseTensor rms_norm(const SparseTensor& in, const Norm& norm, const ExecOptions& exec) {
  check_sparse("rms_norm", in);
  return in.with_features(rms_norm(in.features, norm, exec));
}

SparseTensor group_norm(const SparseTensor& in, std::int64_t groups, const Norm& norm,
                        const ExecOptions& exec) {
  return run_group_norm("group_norm", in, groups, norm, exec);
}

SparseTensor instance_norm(const SparseTensor& in, const Norm& norm, const ExecOptions& exec) {
  return run_group_norm("instance_norm", in, std::max<std::int64_t>(in.channels(), 1), norm, exec);
}

}  // namespace aerogel
