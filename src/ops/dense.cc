#include "aerogel/ops/dense.h"

#include <fmt/core.h>

#include "aerogel/error.h"

#include "core/feature_types.h"
#include "ops/checks.h"
#include "ops/run_op.h"

namespace aerogel {

Tensor to_dense(const SparseTensor& in, DenseLayout layout, const ExecOptions& exec) {
  constexpr std::string_view kOp = "to_dense";
  check_sparse(kOp, in);
  ToDenseArgs args;
  args.coordinates = in.coordinates;
  args.in = in.features.contiguous();
  args.channels_first = layout == DenseLayout::kChannelsFirst;
  Dims shape{in.coordinates.batch_size()};
  if (args.channels_first) shape.push_back(in.channels());
  for (std::int64_t extent : in.coordinates.spatial_shape()) shape.push_back(extent);
  if (!args.channels_first) shape.push_back(in.channels());
  args.out = Tensor::empty(shape, in.features.dtype(), exec);
  OpRecord record;
  record.op = kOp;
  record.problem = fmt::format("{}:n={}:shape={}:dtype={}", kOp, in.sites(), shape.joined('x'),
                               dtype_name(args.out.dtype()));
  record.sites_in = record.sites_out = in.sites();
  record.c_in = record.c_out = in.channels();
  run_op<ToDenseArgs>(kOp, &KernelTables::to_dense, args, exec, record);
  record.out = args.out;
  observe(exec, record);
  return args.out;
}

SparseTensor from_dense(const Tensor& dense, DenseLayout layout, const ExecOptions& exec) {
  constexpr std::string_view kOp = "from_dense";
  refuse_dry_run(kOp, exec);
  const int axes = dense.shape().size();
  if (!dense.defined() || !is_feature_dtype(dense.dtype()) || axes < 3 || axes > 2 + kMaxNdim) {
    throw InvalidArgument(fmt::format("[from_dense] expected f32, f16 or bf16 with 3 to {} axes, got {}",
                                      2 + kMaxNdim, dense.str()));
  }
  Tensor indices;
  Tensor features;
  FromDenseArgs args;
  args.dense = dense.contiguous();
  args.channels_first = layout == DenseLayout::kChannelsFirst;
  args.indices = &indices;
  args.features = &features;
  Dims spatial_shape;
  for (int axis = 0; axis < axes - 2; ++axis)
    spatial_shape.push_back(dense.size(axis + (args.channels_first ? 2 : 1)));
  OpRecord record;
  record.op = kOp;
  record.problem =
      fmt::format("{}:shape={}:dtype={}", kOp, dense.shape().joined('x'), dtype_name(dense.dtype()));
  run_op<FromDenseArgs>(kOp, &KernelTables::from_dense, args, exec, record);
  record.sites_out = indices.size(0);
  record.c_in = record.c_out = features.size(1);
  record.out = features;
  observe(exec, record);
  return {features, Coordinates::adopt_sorted(indices, spatial_shape, dense.size(0),
                                              Dims::filled(spatial_shape.size(), 1))};
}

}  // namespace aerogel
