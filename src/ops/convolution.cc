#include "aerogel/ops/convolution.h"

#include <cmath>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "ops/checks.h"
#include "ops/find_map.h"
#include "ops/run_op.h"

namespace aerogel {
namespace {

/// The weight's kernel extents; a 2-D weight is pointwise on every axis.
Dims kernel_of(std::string_view op, const ConvWeight& weight, int ndim) {
  if (!weight.defined()) throw InvalidArgument(fmt::format("[{}] undefined weight", op));
  const Dims kernel = weight.kernel();
  if (kernel.empty()) return Dims::filled(ndim, 1);
  if (kernel.size() != ndim) {
    throw InvalidArgument(
        fmt::format("[{}] weight {} has {} kernel axes but the coordinates have {} spatial columns", op,
                    weight.canonical().shape().str(), kernel.size(), ndim));
  }
  return kernel;
}

void check_weight(std::string_view op, const Tensor& features, const ConvWeight& weight,
                  std::int64_t groups) {
  if (groups < 1 || weight.c_out() % groups != 0) {
    throw InvalidArgument(fmt::format("[{}] groups must be at least 1 and divide C_out={}, got {}", op,
                                      weight.c_out(), groups));
  }
  if (features.dtype() != weight.canonical().dtype()) {
    throw InvalidArgument(fmt::format("[{}] weight and features must have one dtype, got {} and {}", op,
                                      weight.canonical().str(), features.str()));
  }
  if (groups > 1 && features.size(1) != weight.c_in() * groups) {
    throw InvalidArgument(fmt::format("[{}] weight {} takes C={} in {} groups but features have C={}", op,
                                      weight.canonical().shape().str(), weight.c_in() * groups, groups,
                                      features.size(1)));
  }
  if (groups == 1 && features.size(1) != weight.c_in()) {
    throw InvalidArgument(fmt::format(
        "[{}] weight has C_in={} but features have C={} (weight {}, features {})", op, weight.c_in(),
        features.size(1), weight.canonical().shape().str(), features.shape().str()));
  }
}

/// Scales for i8 features, and none for others.
void check_quantization(std::string_view op, const Quantization& scales, DType dtype, std::int64_t c_out) {
  if ((dtype == DType::kI8) != scales.given()) {
    throw InvalidArgument(
        fmt::format("[{}] features are {}: i8 features need Epilogue::quantization, others take none", op,
                    dtype_name(dtype)));
  }
  if (dtype != DType::kI8) return;
  check_f32(op, "weight_scale", scales.weight_scale, {c_out});
  const auto is_scale = [](float scale) { return scale > 0 && std::isfinite(scale); };
  if (!is_scale(scales.in_scale) || (scales.out_scale != 0 && !is_scale(scales.out_scale))) {
    throw InvalidArgument(
        fmt::format("[{}] in_scale must be positive and finite and out_scale too or 0, got {} and {}", op,
                    scales.in_scale, scales.out_scale));
  }
}

/// Features [N, C] of a dtype that convolutions take.
void check_conv_features(std::string_view op, const Tensor& features, std::int64_t rows) {
  const bool is_i8 = features.defined() && features.dtype() == DType::kI8;
  is_i8 ? check_dtype(op, "features", features, DType::kI8, {rows, -1})
        : check_features(op, "features", features, {rows, -1});
}

void check_input(std::string_view op, const SparseTensor& in) {
  if (!in.coordinates.defined()) throw InvalidArgument(fmt::format("[{}] the input has no coordinates", op));
  check_conv_features(op, in.features, in.coordinates.size());
}

/// Runs the convolution (or, without a map, the linear layer) into a new tensor and reports it.
Tensor run_conv(std::string_view op, const Tensor& in, const ConvWeight& weight, const KernelSpec& spec,
                std::int64_t groups, const KernelMap* map, const Epilogue& epilogue, const ExecOptions& exec,
                OpRecord& record) {
  check_weight(op, in, weight, groups);
  SparseConvArgs args;
  ConvProblem& problem = args.problem;
  problem.spec = spec;
  problem.n_in = in.size(0);
  problem.n_out = map ? map->n_out : in.size(0);
  problem.pairs = map ? map->pairs() : in.size(0);
  problem.c_in = in.size(1);
  problem.c_out = weight.c_out();
  problem.groups = groups;
  problem.dtype = in.dtype();
  problem.bias = epilogue.bias.defined();
  problem.affine = epilogue.scale.defined() || epilogue.shift.defined();
  problem.residual = epilogue.residual.defined();
  problem.activation = epilogue.activation;
  check_quantization(op, epilogue.quantization, problem.dtype, problem.c_out);
  const DType beside =
      problem.dtype == DType::kI8 ? DType::kF32 : problem.dtype;  // of what the epilogue adds
  problem.requantised = epilogue.quantization.out_scale != 0;

  args.map = map;
  args.in = in.contiguous();
  args.weight = weight;
  args.epilogue.quantization = epilogue.quantization;
  Tensor& weight_scale = args.epilogue.quantization.weight_scale;
  if (weight_scale.defined()) weight_scale = weight_scale.contiguous();
  args.epilogue.bias = per_channel(op, "bias", epilogue.bias, beside, problem.c_out);
  args.epilogue.scale = per_channel(op, "scale", epilogue.scale, beside, problem.c_out);
  args.epilogue.shift = per_channel(op, "shift", epilogue.shift, beside, problem.c_out);
  args.epilogue.activation = epilogue.activation;
  args.epilogue.negative_slope = epilogue.negative_slope;
  if (epilogue.residual.defined()) {
    check_dtype(op, "residual", epilogue.residual, beside, {problem.n_out, problem.c_out});
    args.epilogue.residual = epilogue.residual.contiguous();
  }
  args.out = Tensor::empty({problem.n_out, problem.c_out}, problem.requantised ? DType::kI8 : beside, exec);
  record.op = op;
  record.problem = problem.str();
  record.sites_in = problem.n_in;
  record.sites_out = problem.n_out;
  record.c_in = problem.c_in;
  record.c_out = problem.c_out;
  record.flop = problem.flop();
  run_op<SparseConvArgs>(map ? "sparse_conv" : "linear",
                         map ? &KernelTables::sparse_conv : &KernelTables::linear, args, exec, record);
  record.conv = &args;
  record.out = args.out;
  observe(exec, record);
  return args.out;
}

/// Submanifold, regular and transposed convolutions: geometry, map, run.
SparseTensor conv_of_kind(std::string_view op, ConvKind kind, const SparseTensor& in,
                          const ConvWeight& weight, const ConvOptions& options, const Epilogue& epilogue,
                          const ExecOptions& exec) {
  check_input(op, in);
  const Dims kernel = kernel_of(op, weight, in.coordinates.ndim());
  check_weight(op, in.features, weight, options.groups);
  const KernelSpec spec = KernelSpec::make(kind, kernel, options.stride, options.padding, options.dilation,
                                           options.output_padding, options.sites);
  OpRecord record;
  if (spec.is_pointwise()) {
    return in.with_features(
        run_conv(op, in.features, weight, spec, options.groups, nullptr, epilogue, exec, record));
  }
  const FoundMap found = find_map(in.coordinates, spec, exec, record);
  const Coordinates& sites =
      found.map->new_coordinates.defined() ? found.map->new_coordinates : in.coordinates;
  return {run_conv(op, in.features, weight, spec, options.groups, found.map.get(), epilogue, exec, record),
          sites};
}

}  // namespace

SparseTensor subm_conv(const SparseTensor& in, const ConvWeight& weight, const ConvOptions& options,
                       const Epilogue& epilogue, const ExecOptions& exec) {
  return conv_of_kind("subm_conv", ConvKind::kSubmanifold, in, weight, options, epilogue, exec);
}

SparseTensor sparse_conv(const SparseTensor& in, const ConvWeight& weight, const ConvOptions& options,
                         const Epilogue& epilogue, const ExecOptions& exec) {
  return conv_of_kind("sparse_conv", ConvKind::kRegular, in, weight, options, epilogue, exec);
}

SparseTensor transposed_conv(const SparseTensor& in, const ConvWeight& weight, const ConvOptions& options,
                             const Epilogue& epilogue, const ExecOptions& exec) {
  return conv_of_kind("transposed_conv", ConvKind::kTransposed, in, weight, options, epilogue, exec);
}

SparseTensor inverse_conv(const SparseTensor& in, const Coordinates& onto, const ConvWeight& weight,
                          const ConvOptions& options, const Epilogue& epilogue, const ExecOptions& exec) {
  constexpr std::string_view kOp = "inverse_conv";
  check_input(kOp, in);
  if (!onto.defined()) throw InvalidArgument("[inverse_conv] undefined target coordinates");
  const Dims kernel = kernel_of(kOp, weight, onto.ndim());
  const KernelSpec spec = KernelSpec::make(ConvKind::kInverse, kernel, options.stride, options.padding,
                                           options.dilation, {}, options.sites);
  OpRecord record;
  const bool pointwise = spec.is_pointwise();
  const FoundMap found = pointwise ? FoundMap{} : find_map(onto, spec, exec, record);
  const std::uint64_t expected = pointwise ? onto.id() : found.map->in_id;
  if (in.coordinates.id() != expected) {
    throw InvalidArgument(
        fmt::format("[inverse_conv] the input ({} sites) does not sit on the sites that a regular layer with "
                    "{} made of the target "
                    "({} sites); pass the coordinates which that layer read, and its geometry",
                    in.sites(), spec.str(), onto.size()));
  }
  return {run_conv(kOp, in.features, weight, spec, options.groups, found.map.get(), epilogue, exec, record),
          onto};
}

Tensor linear(const Tensor& in, const ConvWeight& weight, const Epilogue& epilogue, const ExecOptions& exec) {
  constexpr std::string_view kOp = "linear";
  check_conv_features(kOp, in, -1);
  if (!weight.defined() || weight.volume() != 1) {
    throw InvalidArgument(fmt::format("[linear] expected a weight [C_out, C_in], got {}",
                                      weight.defined() ? weight.canonical().str() : "undefined"));
  }
  OpRecord record;
  return run_conv(kOp, in, weight, KernelSpec::make(ConvKind::kRegular, {1}), 1, nullptr, epilogue, exec,
                  record);
}

}  // namespace aerogel
