// Kernel maps by the definition: for every kernel offset and every site, follow the relation and look the
// target up.
//
//   cost   O(K · N · log N) look-ups by lexicographic binary search; any extents, any ndim
#include <algorithm>
#include <array>
#include <vector>

#include "backend/reference/kernels_of.h"
#include "kernel_map/relation.h"
#include "sparse/lexicographic.h"

namespace aerogel::reference {
namespace {

using Row = std::array<std::int32_t, 1 + kMaxNdim>;

/// The row number of `site` in `set`, or −1.
std::int64_t find_site(const Coordinates& set, const std::int32_t* site) {
  const int width = 1 + set.ndim();
  const auto order = set.sorted_order();
  std::int64_t low = 0;
  std::int64_t high = set.size();
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const std::int64_t row = order.empty() ? middle : order[static_cast<std::size_t>(middle)];
    const int order_of = compare_rows(set.row(row), site, width);
    if (order_of == 0) return row;
    (order_of < 0 ? low : high) = order_of < 0 ? middle + 1 : middle;
  }
  return -1;
}

/// The output sites: every site that some tap reaches from `in`, or those that its sites floor to; sorted.
Coordinates output_sites(const Coordinates& in, const KernelSpec& spec) {
  const Dims extent = spec.output_shape(in.spatial_shape());
  const int width = 1 + in.ndim();
  std::vector<Row> reached;
  AxisRelation relation[kMaxNdim];
  for (std::int64_t i = 0; floors_sites(spec) && i < in.size(); ++i) {
    reached.emplace_back();
    floor_site(spec, in.row(i), reached.back().data());
  }
  for (std::int64_t k = 0; !floors_sites(spec) && k < spec.volume(); ++k) {
    axis_relations(spec, k, relation);
    for (std::int64_t i = 0; i < in.size(); ++i) {
      Row row{};
      if (follow(spec, relation, extent, in.row(i), row.data())) reached.push_back(row);
    }
  }
  std::sort(reached.begin(), reached.end());
  reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
  Tensor indices = Tensor::empty({static_cast<std::int64_t>(reached.size()), width}, DType::kI32);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    std::copy_n(reached[i].data(), width,
                indices.mutable_data<std::int32_t>() + i * static_cast<std::size_t>(width));
  }
  return Coordinates::adopt_sorted(indices, extent, in.batch_size(),
                                   output_tensor_stride(spec, in.tensor_stride()));
}

}  // namespace

void build_kernel_map(const MapArgs& args) {
  const KernelSpec& spec = args.spec;
  const bool submanifold = spec.kind == ConvKind::kSubmanifold;
  KernelMap& map = *args.out;
  map.spec = spec;
  if (!spec.keeps_sites()) map.new_coordinates = output_sites(args.in, spec);
  const Coordinates& out = spec.keeps_sites() ? args.in : map.new_coordinates;
  map.n_in = args.in.size();
  map.n_out = out.size();
  map.in_id = args.in.id();
  map.out_id = out.id();

  std::vector<std::int32_t> in_rows;
  std::vector<std::int32_t> out_rows;
  std::vector<std::int64_t> begin{0};
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  // (output row, input row)
  AxisRelation relation[kMaxNdim];
  for (std::int64_t k = 0; k < spec.volume(); ++k) {
    axis_relations(spec, k, relation);
    pairs.clear();
    for (std::int64_t from = 0; from < args.in.size();
         ++from) {  // submanifold: output → input; else input → output
      Row site{};
      if (!follow(spec, relation, out.spatial_shape(), args.in.row(from), site.data())) continue;
      const std::int64_t to = find_site(out, site.data());
      if (to < 0) continue;
      pairs.emplace_back(static_cast<std::int32_t>(submanifold ? from : to),
                         static_cast<std::int32_t>(submanifold ? to : from));
    }
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [output, input] : pairs) {
      out_rows.push_back(output);
      in_rows.push_back(input);
    }
    begin.push_back(static_cast<std::int64_t>(in_rows.size()));
  }
  map.in_rows = Tensor::from<std::int32_t>({static_cast<std::int64_t>(in_rows.size())}, in_rows);
  map.out_rows = Tensor::from<std::int32_t>({static_cast<std::int64_t>(out_rows.size())}, out_rows);
  map.offset_begin = Tensor::from<std::int64_t>({static_cast<std::int64_t>(begin.size())}, begin);
}

}  // namespace aerogel::reference
