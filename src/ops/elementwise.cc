#include "aerogel/ops/elementwise.h"

#include <cmath>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "ops/checks.h"
#include "ops/row_record.h"
#include "ops/run_op.h"
#include "ops/site_union.h"

namespace aerogel {
namespace {

Tensor run_affine(std::string_view op, const Tensor& in, const Affine& by, const ExecOptions& exec) {
  check_features(op, "features", in, {-1, -1});
  const std::int64_t channels = in.size(1);
  if (by.residual.defined()) check_dtype(op, "residual", by.residual, in.dtype(), in.shape());
  AffineArgs args;
  args.in = in.contiguous();
  args.scale = per_channel(op, "scale", by.scale, in.dtype(), channels);
  args.shift = per_channel(op, "shift", by.shift, in.dtype(), channels);
  if (by.residual.defined()) args.residual = by.residual.contiguous();
  args.activation = by.activation;
  args.negative_slope = by.negative_slope;
  args.out = Tensor::empty(in.shape(), in.dtype(), exec);
  OpRecord record = row_record(op, in.size(0), channels, channels, in.dtype());
  run_op<AffineArgs>("affine", &KernelTables::affine, args, exec, record);
  record.out = args.out;
  observe(exec, record);
  return args.out;
}

Tensor activate(Activation activation, const Tensor& in, const ExecOptions& exec) {
  return run_affine(activation_name(activation), in, {.activation = activation}, exec);
}

SparseTensor activate(Activation activation, const SparseTensor& in, const ExecOptions& exec) {
  check_sparse(activation_name(activation), in);
  return in.with_features(activate(activation, in.features, exec));
}

void check_norm(std::string_view op, const BatchNorm& norm, std::int64_t channels, bool running) {
  check_f32(op, "weight", norm.weight, {channels});
  check_f32(op, "bias", norm.bias, {channels});
  if (running) {
    check_f32(op, "running_mean", norm.running_mean, {channels});
    check_f32(op, "running_var", norm.running_var, {channels});
  }
  if (!(norm.eps >= 0))
    throw InvalidArgument(fmt::format("[{}] eps must be at least 0, got {}", op, norm.eps));
}

/// scale = weight / √(var + eps), shift = bias − mean · scale, rounded to f32 once each.
template <class Value>
FoldedNorm fold(const BatchNorm& norm, const Value* mean, const Value* var) {
  const std::int64_t channels = norm.weight.size(0);
  const Tensor weight = norm.weight.contiguous();
  const Tensor bias = norm.bias.contiguous();
  FoldedNorm folded{Tensor::empty({channels}, DType::kF32), Tensor::empty({channels}, DType::kF32)};
  for (std::int64_t c = 0; c < channels; ++c) {
    const double scale = double{weight.data<float>()[c]} / std::sqrt(static_cast<double>(var[c]) + norm.eps);
    folded.scale.mutable_data<float>()[c] = static_cast<float>(scale);
    folded.shift.mutable_data<float>()[c] =
        static_cast<float>(double{bias.data<float>()[c]} - static_cast<double>(mean[c]) * scale);
  }
  return folded;
}

}  // namespace

Tensor affine(const Tensor& in, const Affine& by, const ExecOptions& exec) {
  return run_affine("affine", in, by, exec);
}

Tensor relu(const Tensor& in, const ExecOptions& exec) { return activate(Activation::kRelu, in, exec); }
Tensor sigmoid(const Tensor& in, const ExecOptions& exec) { return activate(Activation::kSigmoid, in, exec); }
Tensor silu(const Tensor& in, const ExecOptions& exec) { return activate(Activation::kSilu, in, exec); }
Tensor gelu_erf(const Tensor& in, const ExecOptions& exec) {
  return activate(Activation::kGeluErf, in, exec);
}
Tensor gelu_tanh(const Tensor& in, const ExecOptions& exec) {
  return activate(Activation::kGeluTanh, in, exec);
}
Tensor leaky_relu(const Tensor& in, float negative_slope, const ExecOptions& exec) {
  return run_affine("leaky_relu", in,
                    {.activation = Activation::kLeakyRelu, .negative_slope = negative_slope}, exec);
}

SparseTensor relu(const SparseTensor& in, const ExecOptions& exec) {
  return activate(Activation::kRelu, in, exec);
}
SparseTensor sigmoid(const SparseTensor& in, const ExecOptions& exec) {
  return activate(Activation::kSigmoid, in, exec);
}
SparseTensor silu(const SparseTensor& in, const ExecOptions& exec) {
  return activate(Activation::kSilu, in, exec);
}
SparseTensor gelu_erf(const SparseTensor& in, const ExecOptions& exec) {
  return activate(Activation::kGeluErf, in, exec);
}
SparseTensor gelu_tanh(const SparseTensor& in, const ExecOptions& exec) {
  return activate(Activation::kGeluTanh, in, exec);
}
SparseTensor leaky_relu(const SparseTensor& in, float negative_slope, const ExecOptions& exec) {
  check_sparse("leaky_relu", in);
  return in.with_features(leaky_relu(in.features, negative_slope, exec));
}

SparseTensor add(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec) {
  check_sparse("add", a);
  check_sparse("add", b);
  if (a.coordinates != b.coordinates) {
    throw InvalidArgument(
        fmt::format("[add] the operands sit on different coordinate sets ({} and {} sites); "
                    "add_union sums over the union of sites",
                    a.sites(), b.sites()));
  }
  return a.with_features(run_affine("add", a.features, {.residual = b.features}, exec));
}

SparseTensor add_union(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec) {
  constexpr std::string_view kOp = "add_union";
  check_sparse(kOp, a);
  check_sparse(kOp, b);
  check_dtype(kOp, "second operand", b.features, a.features.dtype(), {-1, -1});
  if (a.channels() != b.channels() || a.coordinates.spatial_shape() != b.coordinates.spatial_shape() ||
      a.coordinates.batch_size() != b.coordinates.batch_size()) {
    throw InvalidArgument(
        fmt::format("[add_union] channels, spatial shape and batch size must agree, got {} {} batch {} and "
                    "{} {} batch {}",
                    a.features.str(), a.coordinates.spatial_shape().str(), a.coordinates.batch_size(),
                    b.features.str(), b.coordinates.spatial_shape().str(), b.coordinates.batch_size()));
  }
  OpRecord record = row_record(kOp, a.sites() + b.sites(), a.channels(), a.channels(), a.features.dtype());
  const SiteUnion united = unite(a.coordinates, b.coordinates, exec, record);
  ScatterAddArgs args;
  args.parts = {a.features.contiguous(), b.features.contiguous()};
  args.rows = {united.rows_a, united.rows_b};
  args.out = Tensor::empty({united.sites.size(), a.channels()}, a.features.dtype(), exec);
  run_op<ScatterAddArgs>("scatter_add", &KernelTables::scatter_add, args, exec, record);
  record.sites_out = united.sites.size();
  record.out = args.out;
  observe(exec, record);
  return {args.out, united.sites};
}

SparseTensor concat(std::span<const SparseTensor> parts, const ExecOptions& exec) {
  constexpr std::string_view kOp = "concat";
  if (parts.empty()) throw InvalidArgument("[concat] expected at least one part");
  ConcatArgs args;
  std::int64_t channels = 0;
  for (const SparseTensor& part : parts) {
    check_sparse(kOp, part);
    if (part.coordinates != parts[0].coordinates) {
      throw InvalidArgument(
          fmt::format("[concat] the parts sit on different coordinate sets ({} and {} sites)",
                      parts[0].sites(), part.sites()));
    }
    check_dtype(kOp, "every part", part.features, parts[0].features.dtype(), {-1, -1});
    args.parts.push_back(part.features.contiguous());
    channels += part.channels();
  }
  args.out = Tensor::empty({parts[0].sites(), channels}, parts[0].features.dtype(), exec);
  OpRecord record = row_record(kOp, parts[0].sites(), channels, channels, parts[0].features.dtype());
  run_op<ConcatArgs>("concat", &KernelTables::concat, args, exec, record);
  record.out = args.out;
  observe(exec, record);
  return parts[0].with_features(args.out);
}

FoldedNorm fold_batch_norm(const BatchNorm& norm) {
  check_f32("fold_batch_norm", "weight", norm.weight, {-1});
  check_norm("fold_batch_norm", norm, norm.weight.size(0), true);
  const Tensor mean = norm.running_mean.contiguous();
  const Tensor var = norm.running_var.contiguous();
  return fold(norm, mean.data<float>(), var.data<float>());
}

SparseTensor batch_norm(const SparseTensor& in, const BatchNorm& norm, const ExecOptions& exec) {
  check_sparse("batch_norm", in);
  check_norm("batch_norm", norm, in.channels(), true);
  const FoldedNorm folded = fold_batch_norm(norm);
  return in.with_features(
      run_affine("batch_norm", in.features, {.scale = folded.scale, .shift = folded.shift}, exec));
}

SparseTensor batch_norm_train(const SparseTensor& in, const BatchNorm& norm, const ExecOptions& exec) {
  constexpr std::string_view kOp = "batch_norm_train";
  check_sparse(kOp, in);
  check_norm(kOp, norm, in.channels(), false);
  MomentsArgs args;
  args.in = in.features.contiguous();
  args.mean = Tensor::zeros({in.channels()}, DType::kF64);
  args.var = Tensor::zeros({in.channels()}, DType::kF64);
  if (in.sites() > 0) {
    OpRecord record = row_record(kOp, in.sites(), in.channels(), in.channels(), in.features.dtype());
    run_op<MomentsArgs>("moments", &KernelTables::moments, args, exec, record);
  }
  const FoldedNorm folded = fold(norm, args.mean.data<double>(), args.var.data<double>());
  return in.with_features(run_affine(kOp, in.features, {.scale = folded.scale, .shift = folded.shift}, exec));
}

}  // namespace aerogel
