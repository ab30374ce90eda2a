// Blocks of children and their parents. Downward, the maps are those of a regular layer whose window is the
// block (SiteRule::kBlocks): one pair per child, its kernel offset is the child's number. Upward, those of a
// transposed layer with kernel = stride = factor.
#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/ops/sites.h"

#include "ops/checks.h"
#include "ops/find_map.h"
#include "ops/gather.h"
#include "ops/site_union.h"

namespace aerogel {
namespace {

Dims factor_or_two(std::string_view op, const Dims& factor, const Coordinates& set) {
  if (factor.empty()) return Dims::filled(set.ndim(), 2);
  if (factor.size() != set.ndim()) {
    throw InvalidArgument(
        fmt::format("[{}] factor must have {} values, got {}", op, set.ndim(), factor.str()));
  }
  return factor;
}

KernelSpec block_spec(const Dims& factor) {
  return KernelSpec::make(ConvKind::kRegular, factor, factor, {}, {}, {}, SiteRule::kBlocks);
}

/// Where a map's output stands.
const Coordinates& output_sites(const KernelMap& map, const Coordinates& in) {
  return map.new_coordinates.defined() ? map.new_coordinates : in;
}

/// Calls visit(child number, input row, output row) for every pair.
template <class Visit>
void for_each_pair(const KernelMap& map, const Visit& visit) {
  const auto* begin = map.offset_begin.data<std::int64_t>();
  const auto* in_rows = map.in_rows.data<std::int32_t>();
  const auto* out_rows = map.out_rows.data<std::int32_t>();
  for (std::int64_t k = 0; k + 1 < map.offset_begin.numel(); ++k) {
    for (std::int64_t p = begin[k]; p < begin[k + 1]; ++p) visit(k, in_rows[p], out_rows[p]);
  }
}

/// A child of a site: the site's row and the child's number.
struct Child {
  std::int32_t parent;
  std::int64_t number;
};

struct Children {
  Coordinates sites;
  std::vector<Child> of;  // per site
};

/// The children of every site, or those that keep [N, K] holds for; sorted.
Children children_of(std::string_view op, const Coordinates& set, const Dims& factor, const Tensor& keep,
                     const ExecOptions& exec, OpRecord& record) {
  const std::int64_t volume = factor.product();
  if (keep.defined()) check_dtype(op, "keep", keep, DType::kBool, {set.size(), volume});
  const FoundMap found = find_map(set, KernelSpec::make(ConvKind::kTransposed, factor, factor), exec, record);
  Children children;
  children.sites = output_sites(*found.map, set);
  children.of.resize(static_cast<std::size_t>(children.sites.size()));
  for_each_pair(*found.map, [&](std::int64_t k, std::int32_t in, std::int32_t out) {
    children.of[static_cast<std::size_t>(out)] = {in, k};
  });
  if (!keep.defined()) return children;
  const Tensor packed = keep.contiguous();
  const bool* mask = packed.data<bool>();
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < children.sites.size(); ++i) {
    const Child& child = children.of[static_cast<std::size_t>(i)];
    if (mask[child.parent * volume + child.number]) kept.push_back(i);
  }
  const int width = 1 + set.ndim();
  Tensor indices = Tensor::empty({std::ssize(kept), width}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  Children chosen;
  for (const std::int64_t i : kept) {
    to = std::copy_n(children.sites.row(i), width, to);
    chosen.of.push_back(children.of[static_cast<std::size_t>(i)]);
  }
  chosen.sites = Coordinates::adopt_sorted(indices, children.sites.spatial_shape(), set.batch_size(),
                                           children.sites.tensor_stride());
  return chosen;
}

/// For each site of `onto` the row of `coarse` that is its parent, and its number as a child.
std::vector<Child> parents_in(std::string_view op, const Coordinates& coarse, const Coordinates& onto,
                              const Dims& factor, const ExecOptions& exec, OpRecord& record) {
  if (!onto.defined()) throw InvalidArgument(fmt::format("[{}] undefined target coordinates", op));
  if (onto.ndim() != coarse.ndim() || onto.batch_size() != coarse.batch_size()) {
    throw InvalidArgument(
        fmt::format("[{}] the target has {} spatial columns and batch size {}, the input {} and {}", op,
                    onto.ndim(), onto.batch_size(), coarse.ndim(), coarse.batch_size()));
  }
  const FoundMap found = find_map(onto, block_spec(factor), exec, record);
  const Coordinates& parents = output_sites(*found.map, onto);
  std::vector<std::int64_t> row_of;  // parent → row of coarse; empty: the same
  if (parents != coarse) {
    const SiteUnion united = unite(coarse, parents, exec, record);
    const std::vector<std::int64_t> from = turned_rows(united.rows_a, united.sites.size());
    const auto* to = united.rows_b.data<std::int32_t>();
    for (std::int64_t i = 0; i < parents.size(); ++i) row_of.push_back(from[static_cast<std::size_t>(to[i])]);
  }
  std::vector<Child> children(static_cast<std::size_t>(onto.size()));
  for_each_pair(*found.map, [&](std::int64_t k, std::int32_t fine, std::int32_t parent) {
    const std::int64_t row = row_of.empty() ? parent : row_of[static_cast<std::size_t>(parent)];
    if (row < 0) {
      throw InvalidArgument(
          fmt::format("[{}] row {} of the target has no parent in the input ({} sites) with factor {}", op,
                      fine, coarse.size(), factor.str()));
    }
    children[static_cast<std::size_t>(fine)] = {static_cast<std::int32_t>(row), k};
  });
  return children;
}

/// Each site gets its parent's features, or with `split` the K-th part of them that is its own.
SparseTensor spread(const SparseTensor& in, const Coordinates& sites, const std::vector<Child>& of,
                    std::int64_t split, const ExecOptions& exec, OpRecord& record) {
  const Tensor ids = row_ids(sites.size(), exec, [&](std::int64_t i) {
    const Child& child = of[static_cast<std::size_t>(i)];
    return split > 1 ? child.parent * split + child.number : child.parent;
  });
  const Tensor from = in.features.contiguous().reshape({in.sites() * split, in.channels() / split});
  return finish(gather(from, ids, exec, record), sites, exec, record);
}

std::int64_t check_split(std::string_view op, const SparseTensor& in, const Dims& factor) {
  const std::int64_t volume = factor.product();
  if (in.channels() % volume != 0) {
    throw InvalidArgument(fmt::format("[{}] {} children must divide C={}", op, volume, in.channels()));
  }
  return volume;
}

/// The first child of every parent.
SparseTensor downsample_first(const SparseTensor& in, const Dims& factor, const ExecOptions& exec) {
  OpRecord record = sites_record("downsample", in);
  const FoundMap found = find_map(in.coordinates, block_spec(factor), exec, record);
  const Coordinates& sites = output_sites(*found.map, in.coordinates);
  std::vector<std::int64_t> first(static_cast<std::size_t>(sites.size()), -1);
  for_each_pair(*found.map, [&](std::int64_t, std::int32_t from, std::int32_t to) {
    if (first[static_cast<std::size_t>(to)] < 0) first[static_cast<std::size_t>(to)] = from;
  });
  const Tensor ids =
      row_ids(sites.size(), exec, [&](std::int64_t i) { return first[static_cast<std::size_t>(i)]; });
  return finish(gather(in.features, ids, exec, record), sites, exec, record);
}

}  // namespace

SparseTensor downsample(const SparseTensor& in, const Dims& factor, Reduce reduce, const ExecOptions& exec) {
  constexpr std::string_view kOp = "downsample";
  check_sparse(kOp, in);
  const Dims block = factor_or_two(kOp, factor, in.coordinates);
  ConvOptions options;
  options.stride = block;
  options.sites = SiteRule::kBlocks;
  switch (reduce) {
    case Reduce::kMax:
      return max_pool(in, block, options, PoolSites::kRegular, MaxIdentity::kNegativeInfinity, exec);
    case Reduce::kSum:
      return sum_pool(in, block, options, PoolSites::kRegular, exec);
    case Reduce::kFirst:
      return downsample_first(in, block, exec);
    default:
      return avg_pool(in, block, options, PoolSites::kRegular, exec);
  }
}

SparseTensor subdivide(const SparseTensor& in, const Dims& factor, const Tensor& keep,
                       const ExecOptions& exec) {
  constexpr std::string_view kOp = "subdivide";
  check_sparse(kOp, in);
  OpRecord record = sites_record(kOp, in);
  const Children children =
      children_of(kOp, in.coordinates, factor_or_two(kOp, factor, in.coordinates), keep, exec, record);
  return spread(in, children.sites, children.of, 1, exec, record);
}

SparseTensor upsample(const SparseTensor& in, const Coordinates& onto, const Dims& factor,
                      const ExecOptions& exec) {
  constexpr std::string_view kOp = "upsample";
  check_sparse(kOp, in);
  OpRecord record = sites_record(kOp, in);
  const std::vector<Child> of =
      parents_in(kOp, in.coordinates, onto, factor_or_two(kOp, factor, in.coordinates), exec, record);
  return spread(in, onto, of, 1, exec, record);
}

SparseTensor space_to_channel(const SparseTensor& in, const Dims& factor, const ExecOptions& exec) {
  constexpr std::string_view kOp = "space_to_channel";
  check_sparse(kOp, in);
  const Dims block = factor_or_two(kOp, factor, in.coordinates);
  const std::int64_t volume = block.product();
  OpRecord record = sites_record(kOp, in);
  const FoundMap found = find_map(in.coordinates, block_spec(block), exec, record);
  const Coordinates& sites = output_sites(*found.map, in.coordinates);
  const Tensor ids = row_ids(sites.size() * volume, exec, [](std::int64_t) { return -1; });
  if (!exec.dry_run) {
    auto* to = ids.mutable_data<std::int64_t>();
    for_each_pair(*found.map, [&](std::int64_t k, std::int32_t child, std::int32_t parent) {
      to[parent * volume + k] = child;
    });
  }
  const Tensor rows = gather(in.features, ids, exec, record);
  return finish(rows.reshape({sites.size(), volume * in.channels()}), sites, exec, record);
}

SparseTensor channel_to_space(const SparseTensor& in, const Dims& factor, const Tensor& keep,
                              const ExecOptions& exec) {
  constexpr std::string_view kOp = "channel_to_space";
  check_sparse(kOp, in);
  const Dims block = factor_or_two(kOp, factor, in.coordinates);
  const std::int64_t volume = check_split(kOp, in, block);
  OpRecord record = sites_record(kOp, in);
  const Children children = children_of(kOp, in.coordinates, block, keep, exec, record);
  return spread(in, children.sites, children.of, volume, exec, record);
}

SparseTensor channel_to_space_onto(const SparseTensor& in, const Coordinates& onto, const Dims& factor,
                                   const ExecOptions& exec) {
  constexpr std::string_view kOp = "channel_to_space_onto";
  check_sparse(kOp, in);
  const Dims block = factor_or_two(kOp, factor, in.coordinates);
  const std::int64_t volume = check_split(kOp, in, block);
  OpRecord record = sites_record(kOp, in);
  const std::vector<Child> of = parents_in(kOp, in.coordinates, onto, block, exec, record);
  return spread(in, onto, of, volume, exec, record);
}

}  // namespace aerogel
