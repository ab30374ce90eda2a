#include "ops/site_union.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/sites.h"

#include "ops/checks.h"
#include "ops/gather.h"

namespace aerogel {
namespace {

/// Channels side by side; row i of the result is row ids[part][i] of each part, zeros where it is −1.
SparseTensor concat_rows(std::span<const SparseTensor> parts, std::vector<Tensor> ids,
                         const Coordinates& sites, const ExecOptions& exec, OpRecord& record) {
  ConcatArgs args;
  std::int64_t channels = 0;
  for (const SparseTensor& part : parts) {
    args.parts.push_back(part.features.contiguous());
    channels += part.channels();
  }
  args.ids = std::move(ids);
  args.out = Tensor::empty({sites.size(), channels}, parts[0].features.dtype(), exec);
  run_part<ConcatArgs>("concat", &KernelTables::concat, args, exec, record);
  return finish(args.out, sites, exec, record);
}

/// The sites of both, and which row of each stands there.
struct Intersection {
  Coordinates sites;
  Tensor ids_a;  // [N] i64
  Tensor ids_b;
};

Intersection intersect(const Coordinates& a, const Coordinates& b, const ExecOptions& exec,
                       OpRecord& record) {
  const SiteUnion united = unite(a, b, exec, record);
  const std::vector<std::int64_t> from_a = turned_rows(united.rows_a, united.sites.size());
  const std::vector<std::int64_t> from_b = turned_rows(united.rows_b, united.sites.size());
  std::vector<std::int64_t> common;
  for (std::size_t i = 0; i < from_a.size(); ++i) {
    if (from_a[i] >= 0 && from_b[i] >= 0) common.push_back(static_cast<std::int64_t>(i));
  }
  const int width = 1 + a.ndim();
  Tensor indices = Tensor::empty({std::ssize(common), width}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  for (const std::int64_t row : common) to = std::copy_n(united.sites.row(row), width, to);
  const auto ids = [&](const std::vector<std::int64_t>& from) {
    return row_ids(std::ssize(common), exec, [&](std::int64_t i) {
      return from[static_cast<std::size_t>(common[static_cast<std::size_t>(i)])];
    });
  };
  return {Coordinates::adopt_sorted(indices, a.spatial_shape(), a.batch_size(), a.tensor_stride()),
          ids(from_a), ids(from_b)};
}

}  // namespace

SiteUnion unite(const Coordinates& a, const Coordinates& b, const ExecOptions& exec, OpRecord& record) {
  SiteUnion united;
  SiteUnionArgs args;
  args.a = a;
  args.b = b;
  args.out = &united.sites;
  args.rows_a = &united.rows_a;
  args.rows_b = &united.rows_b;
  run_op<SiteUnionArgs>("site_union", &KernelTables::site_union, args, exec, record, DryRun::kStillRuns);
  record.map_ms += record.run_ms;
  record.run_ms = 0;  // nothing ran before the sites were known
  return united;
}

void check_united(std::string_view op, const SparseTensor& a, const SparseTensor& b) {
  check_sparse(op, a);
  check_sparse(op, b);
  check_dtype(op, "second operand", b.features, a.features.dtype(), {-1, -1});
  if (a.coordinates.spatial_shape() != b.coordinates.spatial_shape() ||
      a.coordinates.batch_size() != b.coordinates.batch_size()) {
    throw InvalidArgument(
        fmt::format("[{}] spatial shape and batch size must agree, got {} batch {} and {} batch {}", op,
                    a.coordinates.spatial_shape().str(), a.coordinates.batch_size(),
                    b.coordinates.spatial_shape().str(), b.coordinates.batch_size()));
  }
}

std::vector<std::int64_t> turned_rows(const Tensor& rows, std::int64_t count) {
  std::vector<std::int64_t> from(static_cast<std::size_t>(count), -1);
  const auto* to = rows.data<std::int32_t>();
  for (std::int64_t i = 0; i < rows.size(0); ++i) from[static_cast<std::size_t>(to[i])] = i;
  return from;
}

SparseTensor concat_union(std::span<const SparseTensor> parts, const ExecOptions& exec) {
  constexpr std::string_view kOp = "concat_union";
  if (parts.empty()) throw InvalidArgument("[concat_union] expected at least one part");
  bool one_set = true;
  for (const SparseTensor& part : parts) {
    check_united(kOp, parts[0], part);
    one_set = one_set && part.coordinates == parts[0].coordinates;
  }
  if (one_set) return concat(parts, exec);
  OpRecord record = sites_record(kOp, parts[0]);
  record.problem += fmt::format(":parts={}", parts.size());
  Coordinates sites = parts[0].coordinates;
  std::vector<std::vector<std::int64_t>> from;  // per part: the row that stands at each site, or −1
  from.push_back(std::vector<std::int64_t>(static_cast<std::size_t>(sites.size())));
  for (std::size_t i = 0; i < from[0].size(); ++i) from[0][i] = static_cast<std::int64_t>(i);
  for (const SparseTensor& part : parts.subspan(1)) {
    const SiteUnion united = unite(sites, part.coordinates, exec, record);
    const std::vector<std::int64_t> before = turned_rows(united.rows_a, united.sites.size());
    for (std::vector<std::int64_t>& rows : from) {
      std::vector<std::int64_t> now(before.size(), -1);
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] >= 0) now[i] = rows[static_cast<std::size_t>(before[i])];
      }
      rows = std::move(now);
    }
    from.push_back(turned_rows(united.rows_b, united.sites.size()));
    sites = united.sites;
    record.sites_in += part.sites();
  }
  std::vector<Tensor> ids;
  ids.reserve(from.size());
  for (const std::vector<std::int64_t>& rows : from) {
    ids.push_back(
        row_ids(sites.size(), exec, [&rows](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; }));
  }
  return concat_rows(parts, std::move(ids), sites, exec, record);
}

SparseTensor concat_intersection(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec) {
  constexpr std::string_view kOp = "concat_intersection";
  check_united(kOp, a, b);
  const SparseTensor parts[] = {a, b};
  OpRecord record = sites_record(kOp, a);
  record.sites_in += b.sites();
  const Intersection common = intersect(a.coordinates, b.coordinates, exec, record);
  return concat_rows(parts, {common.ids_a, common.ids_b}, common.sites, exec, record);
}

SparseTensor add_intersection(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec) {
  constexpr std::string_view kOp = "add_intersection";
  check_united(kOp, a, b);
  if (a.channels() != b.channels()) {
    throw InvalidArgument(
        fmt::format("[{}] channels must agree, got {} and {}", kOp, a.channels(), b.channels()));
  }
  OpRecord record = sites_record(kOp, a);
  record.sites_in += b.sites();
  const Intersection common = intersect(a.coordinates, b.coordinates, exec, record);
  AffineArgs sum;
  sum.residual = gather(b.features, common.ids_b, exec, record);
  sum.in = sum.out = gather(a.features, common.ids_a, exec, record);
  run_part<AffineArgs>("affine", &KernelTables::affine, sum, exec, record);
  return finish(sum.out, common.sites, exec, record);
}

}  // namespace aerogel
