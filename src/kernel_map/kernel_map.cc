#include "aerogel/kernel_map.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace aerogel {

std::int64_t KernelMap::pairs_of(std::int64_t offset) const {
  const auto* begin = offset_begin.data<std::int64_t>();
  return begin[offset + 1] - begin[offset];
}

Tensor KernelMap::neighbour_table() const {
  const std::int64_t volume = spec.volume();
  Tensor table = Tensor::empty({n_out, volume}, DType::kI32);
  auto* to = table.mutable_data<std::int32_t>();
  std::fill_n(to, n_out * volume, -1);
  const auto* begin = offset_begin.data<std::int64_t>();
  for (std::int64_t k = 0; k < volume; ++k) {
    for (std::int64_t p = begin[k]; p < begin[k + 1]; ++p) {
      to[std::int64_t{out_rows.data<std::int32_t>()[p]} * volume + k] = in_rows.data<std::int32_t>()[p];
    }
  }
  return table;
}

std::shared_ptr<const KernelMap> swap_map(const KernelMap& map) {
  auto swapped = std::make_shared<KernelMap>();
  swapped->spec = map.spec;
  swapped->n_in = map.n_out;
  swapped->n_out = map.n_in;
  swapped->in_id = map.out_id;
  swapped->out_id = map.in_id;
  swapped->offset_begin = map.offset_begin;
  swapped->in_rows = Tensor::empty({map.pairs()}, DType::kI32);
  swapped->out_rows = Tensor::empty({map.pairs()}, DType::kI32);
  const auto* in = map.in_rows.data<std::int32_t>();
  const auto* out = map.out_rows.data<std::int32_t>();
  const auto* begin = map.offset_begin.data<std::int64_t>();
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int64_t k = 0; k < map.spec.volume(); ++k) {
    pairs.clear();
    for (std::int64_t p = begin[k]; p < begin[k + 1]; ++p) pairs.emplace_back(in[p], out[p]);
    if (!std::is_sorted(pairs.begin(), pairs.end())) std::sort(pairs.begin(), pairs.end());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      swapped->out_rows.mutable_data<std::int32_t>()[begin[k] + static_cast<std::int64_t>(i)] =
          pairs[i].first;
      swapped->in_rows.mutable_data<std::int32_t>()[begin[k] + static_cast<std::int64_t>(i)] =
          pairs[i].second;
    }
  }
  return swapped;
}

}  // namespace aerogel
