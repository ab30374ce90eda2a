// The elements behind a .ply header, row by row, into sinks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "aerogel/io.h"

#include "io/ply_header.h"

namespace aerogel::io {

/// Where the values of an element go: by default nowhere.
class PlySink {
 public:
  virtual ~PlySink() = default;
  /// The rows are known to fit into the file.
  virtual void begin(const PlyElement& /*element*/) {}
  virtual void begin_row(std::uint64_t /*row*/) {}
  virtual void scalar(double /*value*/) {}
  virtual bool wants_list(const PlyProperty& /*list*/) const { return false; }
  /// The values of a wanted list; `offset` is where its row or its length stands.
  virtual void list(std::uint64_t /*offset*/, const std::vector<double>& /*values*/) {}
  /// A table for rows of scalars alone, which are then decoded a column at a time.
  virtual PointTable* table() { return nullptr; }
};

/// The scalars of an element as columns.
class PlyColumns final : public PlySink {
 public:
  void begin(const PlyElement& element) override;
  void begin_row(std::uint64_t row) override {
    row_ = row;
    column_ = 0;
  }
  void scalar(double value) override { table_.columns[column_++][row_] = value; }
  PointTable* table() override { return &table_; }
  PointTable take() { return std::move(table_); }

 private:
  PointTable table_;
  std::uint64_t row_ = 0;
  std::size_t column_ = 0;
};

/// Reads all elements; sink_of(element) is asked once for each.
void read_ply_body(ByteReader& reader, const PlyHeader& header,
                   const std::function<PlySink&(const PlyElement&)>& sink_of);

}  // namespace aerogel::io
