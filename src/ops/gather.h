// Rows of features by number, for verbs that make new sites.
#pragma once

#include <cstdint>
#include <string_view>

#include <fmt/core.h>

#include "aerogel/sparse_tensor.h"

#include "ops/run_op.h"

namespace aerogel {

/// What such a verb knows beforehand.
inline OpRecord sites_record(std::string_view op, const SparseTensor& in) {
  OpRecord record;
  record.op = op;
  record.problem =
      fmt::format("{}:n={}:c={}:dtype={}", op, in.sites(), in.channels(), dtype_name(in.features.dtype()));
  record.sites_in = in.sites();
  record.c_in = record.c_out = in.channels();
  return record;
}

/// Numbers of rows: id_of(i) for i < count; nothing is filled in a dry run.
template <class IdOf>
Tensor row_ids(std::int64_t count, const ExecOptions& exec, const IdOf& id_of) {
  Tensor ids = Tensor::empty({count}, DType::kI64, exec);
  if (exec.dry_run) return ids;
  auto* to = ids.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) to[i] = id_of(i);
  return ids;
}

/// Runs one op of several: run_ms becomes the sum.
template <class Args>
void run_part(std::string_view op, Table<Args> table, Args& args, const ExecOptions& exec, OpRecord& record) {
  const double before = record.run_ms;
  record.run_ms = 0;
  run_op<Args>(op, table, args, exec, record);
  record.run_ms += before;
}

/// out[i, :] = in[ids[i], :], zeros where ids[i] = −1.
inline void gather_into(const Tensor& out, const Tensor& in, const Tensor& ids, const ExecOptions& exec,
                        OpRecord& record) {
  GatherRowsArgs args;
  args.in = in.contiguous();
  args.ids = ids;
  args.out = out;
  run_part<GatherRowsArgs>("gather_rows", &KernelTables::gather_rows, args, exec, record);
}

inline Tensor gather(const Tensor& in, const Tensor& ids, const ExecOptions& exec, OpRecord& record) {
  Tensor out = Tensor::empty({ids.size(0), in.size(1)}, in.dtype(), exec);
  gather_into(out, in, ids, exec, record);
  return out;
}

/// Ends a verb: tells the observer and puts features on sites.
inline SparseTensor finish(const Tensor& features, const Coordinates& sites, const ExecOptions& exec,
                           OpRecord& record) {
  record.sites_out = sites.size();
  record.c_out = features.size(1);
  record.out = features;
  observe(exec, record);
  return {features, sites};
}

/// Row numbers in sorted order: position i → row.
inline std::int64_t sorted_row(const Coordinates& set, std::int64_t i) {
  const auto order = set.sorted_order();
  return order.empty() ? i : order[static_cast<std::size_t>(i)];
}

}  // namespace aerogel
