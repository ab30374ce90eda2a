// cpu/build_kernel_map/sorted_merge/i32
//
//   pairs[k] = { (in row, out row) : fine site = relation k of the coarse site }, by output row in an offset
//
//   in   N_in sites in any order, 1 to 4 columns    out   offset_begin [K+1], in_rows and out_rows [pairs]
//
// Dataflow. Sites are 64-bit keys that sort as rows do, with fields wide enough that going through a kernel
// offset is one addition. Kernel offsets that differ only in the last tap form a sweep. The fine sites are
// blocks of 32 places along the last column: a bit mask and the rank of its first site. The coarse sites fall
// into cells: those that ask for one fine block. A sweep merges the sorted cells with the sorted blocks,
// moved by one constant, and keeps 64 places of the fine line for each cell. Every coarse site then reads all
// last taps of the sweep out of its window: a set bit is a pair, the bits below it count to the fine site's
// rank. Branches go with cells and blocks; work per site is straight-line vector code, in the order that the
// output wants, so unsorted rows need no second sort.
//
// Maps that keep sorted sites and have odd kernels compute half of the offsets: offset K−1−k has the pairs of
// offset k with both sides swapped, in the same order, since moving by a constant keeps keys sorted.
//
// New coordinate sets are made one axis at a time: a window is a box, so what it reaches is a union along
// each axis in turn, of lists that stay sorted.
//
// Sweeps and chunks of cells run in parallel. Each writes its own part of the lists: same bits for any thread
// count.
//
// Measured, one thread, Intel Xeon (family 6, model 207, AVX3 target), a shared machine, best of 41,
// 2026-12-01, 3×3×3 submanifold, milliseconds sorted / shuffled: lidar:0 (66,035 sites) 2.5 / 4.9, shell:128
// (43,704) 1.4 / 2.7. Of the 2.5: blocks 0.35, cells 0.45, matching 0.9, reading 0.7.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "backend/cpu/line_windows.h"
#include "backend/cpu/op_kernels.h"
#include "core/parallel.h"
#include "kernel_map/relation.h"
#include "sparse/key_packing.h"

namespace aerogel::cpu {
namespace {

constexpr std::int64_t kRowBytes = sizeof(std::int32_t);
constexpr std::int64_t kWalkRows = 16384;
constexpr std::int64_t kMostRemainders = 64;  // of a stride that floors sites: a list each
constexpr std::int64_t kChunkCells =
    4096;  // of one parallel task: some 10,000 rows, well above a task's overhead

/// The relation of every axis for the first kernel offset and, as additions to it, for the others.
struct Relations {
  AxisRelation first[kMaxNdim];

  explicit Relations(const KernelSpec& spec) { axis_relations(spec, 0, first); }

  /// What kernel offset `offset` adds to each fine coordinate of offset 0; never negative.
  void additions(const KernelSpec& spec, std::int64_t offset, std::int64_t* add) const {
    AxisRelation relation[kMaxNdim];
    axis_relations(spec, offset, relation);
    for (int axis = 0; axis < spec.ndim(); ++axis) add[axis] = relation[axis].shift - first[axis].shift;
  }
};

/// Fields for both sides. A fine coordinate is stored as fine − first.shift, so that what offset 0 asks for
/// is stored as stride · coarse ≥ 0. A line is at least one block long, so that blocks are parts of one line.
KeyPacking layer_packing(const Coordinates& in, const KernelSpec& spec) {
  const Dims out_shape = spec.output_shape(in.spatial_shape());
  const bool in_is_fine = spec.kind != ConvKind::kTransposed;
  const Dims& fine_shape = in_is_fine ? in.spatial_shape() : out_shape;
  const Dims& coarse_shape = in_is_fine ? out_shape : in.spatial_shape();
  const Relations relations(spec);
  std::int64_t reach[kMaxNdim];
  relations.additions(spec, spec.volume() - 1, reach);
  Dims extent = fine_shape;
  for (int axis = 0; axis < spec.ndim(); ++axis) {
    const std::int64_t stored = fine_shape[axis] - relations.first[axis].shift;
    const std::int64_t asked = relations.first[axis].stride * (coarse_shape[axis] - 1) + reach[axis] + 1;
    const std::int64_t least = axis == spec.ndim() - 1 ? kBlock : 1;
    extent[axis] = std::max({stored, asked, coarse_shape[axis], least});
  }
  return KeyPacking(in.batch_size(), extent);
}

/// A set's rows by rank.
struct RankedRows {
  const std::int32_t* indices;  // [N, 1+ndim]
  const std::int32_t* order;    // [N] row of each rank, or null: rows are sorted
  std::int64_t count;
  int columns;

  explicit RankedRows(const Coordinates& set)
      : indices(set.indices().data<std::int32_t>()),
        order(set.is_sorted() ? nullptr : set.sorted_order().data()),
        count(set.size()),
        columns(1 + set.ndim()) {}
  const std::int32_t* operator[](std::int64_t rank) const {
    return indices + (order != nullptr ? order[rank] : rank) * columns;
  }
};

/// key(row) = Σ (row[1+axis] · scale[axis] + add[axis]) in the packing's fields.
struct RowKey {
  std::int64_t scale[kMaxNdim] = {1, 1, 1, 1};
  std::int64_t add[kMaxNdim] = {};
  int shift[1 + kMaxNdim] = {};

  explicit RowKey(const KeyPacking& packing, int ndim) {
    for (int column = 0; column <= ndim; ++column) shift[column] = packing.shift(column);
  }
  template <int NDim>
  std::uint64_t of(const std::int32_t* row) const {
    std::uint64_t key = static_cast<std::uint64_t>(row[0]) << shift[0];
    for (int axis = 0; axis < NDim; ++axis) {
      key += static_cast<std::uint64_t>(row[1 + axis] * scale[axis] + add[axis]) << shift[1 + axis];
    }
    return key;
  }
  /// The row of a key with scale 1 and add 0.
  template <int NDim>
  void row(std::uint64_t key, std::int32_t* to) const {
    to[0] = static_cast<std::int32_t>(key >> shift[0]);
    for (int axis = 0; axis < NDim; ++axis) {
      const std::uint64_t field = (std::uint64_t{1} << (shift[axis] - shift[1 + axis])) - 1;
      to[1 + axis] = static_cast<std::int32_t>((key >> shift[1 + axis]) & field);
    }
  }
};

/// body(std::integral_constant<int, ndim>{}): the number of columns as a constant unrolls the loops over
/// them.
template <class Body>
decltype(auto) with_ndim(int ndim, Body&& body) {
  switch (ndim) {
    case 1:
      return body(std::integral_constant<int, 1>{});
    case 2:
      return body(std::integral_constant<int, 2>{});
    case 3:
      return body(std::integral_constant<int, 3>{});
    default:
      return body(std::integral_constant<int, 4>{});
  }
}

// ---- new coordinate sets ----

/// A list of keys that is not cleared first.
struct Keys {
  Array<std::uint64_t> data;
  std::int64_t count = 0;

  static Keys of_size(std::int64_t count, MemoryMeter* meter) {
    return {Array<std::uint64_t>(count, meter), count};
  }
};

/// Union of two sorted lists of distinct keys.
Keys merge_union(const Keys& a, const Keys& b, MemoryMeter* meter) {
  Keys out = Keys::of_size(a.count + b.count, meter);
  std::int64_t i = 0;
  std::int64_t j = 0;
  std::int64_t n = 0;
  while (i < a.count && j < b.count) {  // without a branch on the comparison, which would be a coin toss
    const std::uint64_t x = a.data[i];
    const std::uint64_t y = b.data[j];
    out.data[n++] = x < y ? x : y;
    i += x <= y;
    j += y <= x;
  }
  std::uint64_t* rest = std::copy(a.data.get() + i, a.data.get() + a.count, out.data.get() + n);
  out.count = std::copy(b.data.get() + j, b.data.get() + b.count, rest) - out.data.get();
  return out;
}

/// Union of many, merged in pairs.
Keys merge_all(std::vector<Keys> lists, MemoryMeter* meter) {
  while (lists.size() > 1) {
    std::vector<Keys> merged;
    for (std::size_t i = 0; i + 1 < lists.size(); i += 2)
      merged.push_back(merge_union(lists[i], lists[i + 1], meter));
    if (lists.size() % 2 == 1) merged.push_back(std::move(lists.back()));
    lists = std::move(merged);
  }
  return std::move(lists.front());
}

/// Where a coordinate goes along one axis through one tap: −1 if nowhere.
struct AxisMove {
  AxisRelation relation;
  bool to_coarse;
  std::int64_t extent;  // of the result

  std::int64_t operator()(std::int64_t from) const {
    std::int64_t to = 0;
    if (to_coarse) return relation.coarse(from, to) && to < extent ? to : -1;
    to = relation.fine(from);
    return to >= 0 && to < extent ? to : -1;
  }
};

/// `keys` with one field moved, those that go nowhere left out. Stays sorted, since moving is monotone.
Keys move_along_axis(const Keys& keys, int shift, std::uint64_t field, std::int64_t from_extent,
                     const AxisMove& move, MemoryMeter* meter) {
  Keys moved = Keys::of_size(keys.count + 1, meter);  // a key is written before it is known to count
  std::int64_t n = 0;
  const auto move_keys = [&](const auto& place_of) {
    for (std::int64_t i = 0; i < keys.count; ++i) {
      const std::uint64_t key = keys.data[i];
      const std::int64_t to = place_of(static_cast<std::int64_t>((key >> shift) & field));
      moved.data[n] = (key & ~(field << shift)) | (static_cast<std::uint64_t>(to) & field) << shift;
      n += to >= 0;
    }
  };
  if (from_extent <= keys.count) {  // one division per coordinate instead of one per key
    const Array<std::int64_t> table(from_extent, meter);
    for (std::int64_t from = 0; from < from_extent; ++from) table[from] = move(from);
    move_keys([&](std::int64_t from) { return table[from]; });
  } else {
    move_keys(move);
  }
  moved.count = n;
  return moved;
}

/// The taps along one axis that decide the output sites: those of the window, or, where sites are floored, a
/// tap per remainder of the stride, which floors by the same relation.
struct SiteTaps {
  std::int64_t count;
  std::int64_t next;  // kernel offsets from one tap of the axis to the next
  bool floored;

  SiteTaps(const KernelSpec& spec, int axis)
      : count(spec.kernel[axis]), next(1), floored(floors_sites(spec)) {
    if (floored) count = spec.stride[axis];
    for (int later = axis + 1; later < spec.ndim(); ++later) next *= spec.kernel[later];
  }

  AxisRelation relation(const KernelSpec& spec, int axis, std::int64_t tap) const {
    if (floored) return {spec.stride[axis], tap};
    AxisRelation relations[kMaxNdim];
    axis_relations(spec, tap * next, relations);
    return relations[axis];
  }
};

/// The sites that some tap of the window reaches, or those that sites floor to.
Coordinates reached_sites(const MapArgs& args, const KeyPacking& packing, CountedBytes& held) {
  const KernelSpec& spec = args.spec;
  const int ndim = spec.ndim();
  const Dims& in_shape = args.in.spatial_shape();
  const Dims out_shape = spec.output_shape(in_shape);
  const RankedRows rows(args.in);
  const RowKey row_key(packing, ndim);
  Keys keys = Keys::of_size(rows.count, args.meter);
  with_ndim(ndim, [&](auto columns) {
    parallel_chunks(rows.count, kWalkRows, args.threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t rank = begin; rank < end; ++rank)
        keys.data[rank] = row_key.template of<columns()>(rows[rank]);
    });
  });
  for (int axis = 0; axis < ndim; ++axis) {
    const SiteTaps taps(spec, axis);
    const int shift = packing.shift(1 + axis);
    const std::uint64_t field = (std::uint64_t{1} << (packing.shift(axis) - shift)) - 1;
    std::vector<Keys> lists(static_cast<std::size_t>(taps.count));
    parallel_chunks(taps.count, 1, args.threads, [&](std::int64_t tap, std::int64_t) {
      const AxisMove move{taps.relation(spec, axis, tap), spec.kind == ConvKind::kRegular, out_shape[axis]};
      lists[tap] = move_along_axis(keys, shift, field, in_shape[axis], move, args.meter);
    });
    keys = merge_all(std::move(lists), args.meter);
  }
  const std::int64_t width = 1 + ndim;
  held.add(keys.count * width * kRowBytes);
  Tensor indices = Tensor::empty({keys.count, width}, DType::kI32);
  auto* out = indices.mutable_data<std::int32_t>();
  with_ndim(ndim, [&](auto columns) {
    parallel_chunks(keys.count, kWalkRows, args.threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        row_key.template row<columns()>(keys.data[i], out + i * width);
    });
  });
  return Coordinates::adopt_sorted(indices, out_shape, args.in.batch_size(),
                                   output_tensor_stride(spec, args.in.tensor_stride()));
}

// ---- the two sides ----

/// Cuts sorted keys into blocks. Every store happens for every key: whether a key opens a block is hard to
/// predict.
struct LineRuns {
  std::int64_t last = -1;
  std::uint64_t current = kNoKey;
  std::uint32_t bits = 0;
  std::int32_t first = 0;

  void take(std::uint64_t key, std::int64_t rank, std::uint64_t* block_key, std::uint32_t* block_bits,
            std::int32_t* first_rank) {
    const std::uint64_t block = key >> kBlockBits;
    const bool opens = block != current;
    current = block;
    last += opens;
    bits = (opens ? 0 : bits) | std::uint32_t{1} << (key % kBlock);
    first = opens ? static_cast<std::int32_t>(rank) : first;
    block_key[last] = block;
    block_bits[last] = bits;
    first_rank[last] = first;
  }
};

template <int NDim>
Blocks make_blocks(const RankedRows& rows, const RowKey& row_key, MemoryMeter* meter) {
  Blocks blocks;
  blocks.key = Array<std::uint64_t>(rows.count + 2, meter);
  blocks.sites = Array<std::uint32_t>(rows.count + 1, meter);
  blocks.first_rank = Array<std::int32_t>(rows.count + 1, meter);
  LineRuns runs;
  for (std::int64_t rank = 0; rank < rows.count; ++rank) {
    runs.take(row_key.template of<NDim>(rows[rank]), rank, blocks.key.get(), blocks.sites.get(),
              blocks.first_rank.get());
  }
  blocks.count = runs.last + 1;
  blocks.key[blocks.count] = blocks.key[blocks.count + 1] = kNoKey;
  blocks.sites[blocks.count] = 0;
  blocks.first_rank[blocks.count] = 0;
  return blocks;
}

/// `by_rank`: sites are iterated by rank, else by row.
template <int NDim>
Cells make_cells(const RankedRows& rows, const RowKey& row_key, bool by_rank, MemoryMeter* meter) {
  Cells cells;
  cells.key = Array<std::uint64_t>(rows.count, meter);
  cells.asked = Array<std::uint32_t>(rows.count, meter);
  cells.first_rank = Array<std::int32_t>(rows.count + 1, meter);
  cells.of_row = Array<std::int32_t>(rows.count + kVectorPad, meter);
  cells.bit_of_row = Array<std::uint8_t>(rows.count + kVectorPad, meter);
  std::fill_n(cells.of_row.get() + rows.count, kVectorPad, 0);
  std::fill_n(cells.bit_of_row.get() + rows.count, kVectorPad, std::uint8_t{0});
  const std::int32_t* position_of = by_rank ? nullptr : rows.order;
  LineRuns runs;
  for (std::int64_t rank = 0; rank < rows.count; ++rank) {
    const std::uint64_t key = row_key.template of<NDim>(rows[rank]);
    runs.take(key, rank, cells.key.get(), cells.asked.get(), cells.first_rank.get());
    const std::int64_t position = position_of != nullptr ? position_of[rank] : rank;
    cells.of_row[position] = static_cast<std::int32_t>(runs.last);
    cells.bit_of_row[position] = static_cast<std::uint8_t>(key % kBlock);
  }
  cells.count = runs.last + 1;
  cells.first_rank[cells.count] = static_cast<std::int32_t>(rows.count);
  return cells;
}

// ---- the join ----

/// Where pairs go, and what a position and a rank mean there.
struct PairSink {
  std::int32_t* coarse_rows;         // [pairs] in_rows of a transposed layer, else out_rows
  std::int32_t* fine_rows;           // [pairs] the other one
  const std::int32_t* coarse_order;  // [N] row of a coarse position, or null: itself
  const std::int32_t* fine_order;    // [N] row of a fine rank, or null: itself
};

void write_rows(const std::int32_t* from, std::int64_t count, const std::int32_t* order, std::int32_t* to) {
  if (order == nullptr) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(std::int32_t));
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = order[from[i]];
  }
}

/// The sweeps that cover kernel offsets [0, offsets), with their cells.
class Sweeps {
 public:
  Sweeps(const MapArgs& args, const KeyPacking& packing, const RankedRows& coarse, std::int64_t offsets,
         bool by_rank) {
    const KernelSpec& spec = args.spec;
    const int last_axis = spec.ndim() - 1;
    const std::int64_t last_taps = spec.kernel[last_axis];
    const std::int64_t dilation = spec.dilation[last_axis];
    const std::int64_t group_taps = std::min(last_taps, 1 + (kBlock - 1) / dilation);
    const Relations relations(spec);
    std::int64_t add[kMaxNdim];
    cells_.resize(static_cast<std::size_t>((last_taps + group_taps - 1) / group_taps));
    parallel_chunks(std::ssize(cells_), 1, args.threads, [&](std::int64_t group, std::int64_t) {
      std::int64_t group_add[kMaxNdim];
      relations.additions(spec, group * group_taps, group_add);
      RowKey row_key(packing, spec.ndim());
      for (int axis = 0; axis <= last_axis; ++axis) row_key.scale[axis] = relations.first[axis].stride;
      row_key.add[last_axis] = group_add[last_axis];
      cells_[group] = with_ndim(
          spec.ndim(), [&](auto ndim) { return make_cells<ndim()>(coarse, row_key, by_rank, args.meter); });
    });
    for (std::int64_t first = 0; first < offsets; first += last_taps) {
      relations.additions(spec, first, add);
      std::uint64_t delta = 0;
      for (int axis = 0; axis < last_axis; ++axis) {
        delta += static_cast<std::uint64_t>(add[axis]) << packing.shift(1 + axis);
      }
      for (std::int64_t tap = 0; tap < last_taps && first + tap < offsets; tap += group_taps) {
        Sweep sweep;
        sweep.first_offset = first + tap;
        sweep.taps = static_cast<int>(std::min({group_taps, last_taps - tap, offsets - first - tap}));
        sweep.step = sweep.taps > 1 ? static_cast<int>(dilation) : 1;
        sweep.block_delta = delta >> kBlockBits;
        sweep.cells = &cells_[tap / group_taps];
        sweeps_.push_back(std::move(sweep));
      }
    }
  }

  std::vector<Sweep>& list() { return sweeps_; }

 private:
  std::vector<Cells> cells_;  // one per group of last taps; sweeps point into it
  std::vector<Sweep> sweeps_;
};

/// One chunk of one sweep: cells [begin, end) and the pairs of each tap in it, later where they go.
struct Task {
  Sweep* sweep;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t counts[32];
};

std::string supports(const MapArgs& args) {
  if (args.spec.kind == ConvKind::kInverse) return "inverse maps are swapped regular ones";
  for (int axis = 0; floors_sites(args.spec) && axis < args.spec.ndim(); ++axis) {
    if (args.spec.stride[axis] > kMostRemainders) {
      return fmt::format("floors sites by strides up to {}, not {}", kMostRemainders, args.spec.stride[axis]);
    }
  }
  const KeyPacking packing = layer_packing(args.in, args.spec);
  if (!packing.fits()) {
    return fmt::format(
        "a site of batch size {} and spatial shape {} with this window needs more than 63 bits",
        args.in.batch_size(), args.in.spatial_shape().str());
  }
  return {};
}

void run(const MapArgs& args) {
  const KernelSpec& spec = args.spec;
  const bool keeps_sites = spec.keeps_sites();
  const bool transposed = spec.kind == ConvKind::kTransposed;
  const KeyPacking packing = layer_packing(args.in, spec);
  KernelMap& map = *args.out;
  CountedBytes held(args.meter);  // the map itself, and lists as long as the kernel has offsets
  map.spec = spec;
  map.new_coordinates = keeps_sites ? Coordinates() : reached_sites(args, packing, held);
  const Coordinates& out = keeps_sites ? args.in : map.new_coordinates;
  map.n_in = args.in.size();
  map.n_out = out.size();
  map.in_id = args.in.id();
  map.out_id = out.id();

  const std::int64_t volume = spec.volume();
  const bool mirrored = keeps_sites && volume % 2 == 1 && args.in.is_sorted();  // centred on every axis
  const bool by_rank = !keeps_sites || args.in.is_sorted();  // a new set is sorted on one side or the other
  const std::int64_t offsets = mirrored ? volume / 2 : volume;
  const RankedRows coarse(transposed ? args.in : out);
  const RankedRows fine(transposed ? out : args.in);

  const Relations relations(spec);
  RowKey fine_key(packing, spec.ndim());
  for (int axis = 0; axis < spec.ndim(); ++axis) fine_key.add[axis] = -relations.first[axis].shift;
  const Blocks blocks =
      with_ndim(spec.ndim(), [&](auto ndim) { return make_blocks<ndim()>(fine, fine_key, args.meter); });
  Sweeps sweeps(args, packing, coarse, offsets, by_rank);

  held.add(std::ssize(sweeps.list()) * static_cast<std::int64_t>(sizeof(Sweep)) +
           2 * (volume + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  std::vector<Task> tasks;
  for (Sweep& sweep : sweeps.list()) {
    const std::int64_t cells = sweep.cells->count;
    sweep.window = Array<std::uint64_t>(cells, args.meter);
    sweep.first_rank = Array<std::int32_t>(cells, args.meter);
    const std::int64_t chunk = by_rank ? kChunkCells : std::max<std::int64_t>(cells, 1);
    held.add((cells + chunk - 1) / chunk * static_cast<std::int64_t>(sizeof(Task)));
    for (std::int64_t begin = 0; begin < cells; begin += chunk) {
      tasks.push_back({&sweep, begin, std::min(cells, begin + chunk), {}});
    }
  }
  parallel_chunks(std::ssize(tasks), 1, args.threads, [&](std::int64_t i, std::int64_t) {
    match_cells(*tasks[i].sweep, blocks, tasks[i].begin, tasks[i].end, tasks[i].counts);
  });

  map.offset_begin = Tensor::zeros({volume + 1}, DType::kI64);
  auto* offset_begin = map.offset_begin.mutable_data<std::int64_t>();
  for (const Task& task : tasks) {
    for (int tap = 0; tap < task.sweep->taps; ++tap) {
      offset_begin[task.sweep->first_offset + tap + 1] += task.counts[tap];
    }
  }
  if (mirrored) {
    offset_begin[volume / 2 + 1] = map.n_in;
    for (std::int64_t k = 0; k < offsets; ++k) offset_begin[volume - k] = offset_begin[k + 1];
  }
  for (std::int64_t k = 0; k < volume; ++k) offset_begin[k + 1] += offset_begin[k];
  const std::int64_t pairs = offset_begin[volume];
  held.add(2 * pairs * kRowBytes);
  map.in_rows = Tensor::empty({pairs}, DType::kI32);
  map.out_rows = Tensor::empty({pairs}, DType::kI32);
  std::int32_t* in_rows = map.in_rows.mutable_data<std::int32_t>();
  std::int32_t* out_rows = map.out_rows.mutable_data<std::int32_t>();
  const PairSink sink{transposed ? in_rows : out_rows, transposed ? out_rows : in_rows,
                      by_rank ? coarse.order : nullptr, fine.order};

  std::vector<std::int64_t> written(static_cast<std::size_t>(offsets), 0);
  for (Task& task : tasks) {  // tasks of a sweep stand in the order of their cells
    for (int tap = 0; tap < task.sweep->taps; ++tap) {
      const std::int64_t count = task.counts[tap];
      task.counts[tap] = written[task.sweep->first_offset + tap];
      written[task.sweep->first_offset + tap] += count;
    }
  }
  parallel_chunks(std::ssize(tasks), 1, args.threads, [&](std::int64_t i, std::int64_t) {
    Task& task = tasks[i];
    const Sweep& sweep = *task.sweep;
    const std::int64_t begin = by_rank ? sweep.cells->first_rank[task.begin] : 0;
    const std::int64_t end = by_rank ? sweep.cells->first_rank[task.end] : coarse.count;
    TilePairs tile(sweep.taps, args.meter);
    for (std::int64_t row = begin; row < end; row += kTileRows) {
      read_windows(sweep, row, std::min(end, row + kTileRows), tile);
      for (int tap = 0; tap < sweep.taps; ++tap) {
        const std::int32_t* tile_coarse = tile.coarse.get() + tap * TilePairs::kStride;
        const std::int32_t* tile_fine = tile.fine.get() + tap * TilePairs::kStride;
        const std::int64_t offset = sweep.first_offset + tap;
        const std::int64_t to = offset_begin[offset] + task.counts[tap];
        write_rows(tile_coarse, tile.count[tap], sink.coarse_order, sink.coarse_rows + to);
        write_rows(tile_fine, tile.count[tap], sink.fine_order, sink.fine_rows + to);
        if (mirrored) {
          const std::int64_t mirror = offset_begin[volume - 1 - offset] + task.counts[tap];
          write_rows(tile_coarse, tile.count[tap], nullptr, in_rows + mirror);
          write_rows(tile_fine, tile.count[tap], nullptr, out_rows + mirror);
        }
        task.counts[tap] += tile.count[tap];
      }
    }
  });
  if (mirrored) {  // the centre: every site feeds itself
    const std::int64_t centre = offset_begin[volume / 2];
    for (std::int64_t i = 0; i < map.n_in; ++i) {
      in_rows[centre + i] = out_rows[centre + i] = static_cast<std::int32_t>(i);
    }
  }
}

}  // namespace

const Kernel<MapArgs> kBuildKernelMapSortedMerge = {
    "cpu/build_kernel_map/sorted_merge/i32", "sorted keys merged line by line, pairs read out of bit windows",
    supports, nullptr, run};

}  // namespace aerogel::cpu
