// Window pools over a kernel map and pools over batch items. NaN propagates through both kinds.
#include <algorithm>
#include <vector>

#include "backend/reference/kernels_of.h"
#include "core/feature_types.h"
#include "core/half.h"

namespace aerogel::reference {
namespace {

/// max that keeps NaN from either side.
double nan_max(double a, double b) { return a != a ? a : (b != b || b > a ? b : a); }

/// Accumulates rows into [rows, C] doubles and finishes them as maximum, mean or sum.
class RowPool {
 public:
  RowPool(PoolKind kind, float identity, std::int64_t rows, std::int64_t channels)
      : kind_(kind),
        channels_(channels),
        values_(static_cast<std::size_t>(rows * channels), kind == PoolKind::kMax ? double{identity} : 0.0),
        counts_(static_cast<std::size_t>(rows), 0) {}

  template <class T>
  void take(std::int64_t row, const T* in) {
    ++counts_[static_cast<std::size_t>(row)];
    for (std::int64_t c = 0; c < channels_; ++c) {
      double& value = values_[static_cast<std::size_t>(row * channels_ + c)];
      value = kind_ == PoolKind::kMax ? nan_max(value, to_f32(in[c])) : value + to_f32(in[c]);
    }
  }

  template <class T>
  void finish(T* out) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::int64_t count = counts_[i / static_cast<std::size_t>(channels_)];
      out[i] = round_to<T>(kind_ == PoolKind::kAvg && count > 0 ? values_[i] / static_cast<double>(count)
                                                                : values_[i]);
    }
  }

 private:
  PoolKind kind_;
  std::int64_t channels_;
  std::vector<double> values_;  // [rows, C]
  std::vector<std::int64_t> counts_;
};

template <class T>
void pool_of(const PoolArgs& args) {
  const std::int64_t channels = args.in.size(1);
  RowPool rows(args.kind, args.identity, args.map->n_out, channels);
  for (std::int64_t p = 0; p < args.map->pairs(); ++p) {
    rows.take(args.map->out_rows.data<std::int32_t>()[p],
              args.in.data<T>() + args.map->in_rows.data<std::int32_t>()[p] * channels);
  }
  rows.finish(args.out.mutable_data<T>());
}

template <class T>
void global_pool_of(const GlobalPoolArgs& args) {
  const std::int64_t channels = args.in.size(1);
  RowPool items(args.kind, args.identity, args.out.size(0), channels);
  for (std::int64_t i = 0; i < args.in.size(0); ++i) {
    items.take(args.coordinates.row(i)[0], args.in.data<T>() + i * channels);
  }
  items.finish(args.out.mutable_data<T>());
}

}  // namespace

void pool(const PoolArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { pool_of<T>(args); });
}
void global_pool(const GlobalPoolArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { global_pool_of<T>(args); });
}

}  // namespace aerogel::reference
