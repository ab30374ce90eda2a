// Which input site feeds which output site through which kernel offset, and where such maps are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// How output sites follow from input sites.
enum class ConvKind : std::uint8_t {
  kSubmanifold,  ///< output sites = input sites
  kRegular,      ///< every site that some tap reaches
  kTransposed,   ///< every upsampled site that some tap reaches
  kInverse,      ///< the sites of an earlier level, pairs of its regular map swapped
};

std::string_view conv_kind_name(ConvKind kind) noexcept;  ///< "subm", "regular", "transposed", "inverse"
ConvKind parse_conv_kind(std::string_view name);          ///< InvalidArgument listing the known names

/// Which coarse sites a layer has, and where its window lies around them.
enum class SiteRule : std::uint8_t {
  kReached,  ///< every site that some tap reaches; the window lies where the padding puts it
  /// MinkowskiEngine's: coarse = floor(fine / stride), without growing the set; odd kernels are centred on
  /// stride · coarse, even ones start there. Transposed layers generate what their window reaches.
  kMinkowski,
  /// Blocks: coarse = floor(fine / stride), and the window of a coarse site is the block of `stride` fine
  /// ones that floor to it. Kernel = stride, so that every fine site has one pair. Regular and inverse
  /// layers.
  kBlocks,
};

std::string_view site_rule_name(SiteRule rule) noexcept;  ///< "reached", "minkowski", "blocks"
SiteRule parse_site_rule(std::string_view name);          ///< InvalidArgument listing the known names

/// The geometry of a window: what convolutions and pools of one shape share.
///
/// Per axis `fine = stride · coarse + dilation · tap − padding`; a regular layer reads fine sites and writes
/// coarse ones, a transposed layer the other way round. Kernel axes follow the spatial columns; offsets count
/// row-major, last axis fastest, offset 0 is the most negative tap. Submanifold layers are centred: stride 1,
/// odd kernels, padding dilation·(kernel−1)/2.
struct KernelSpec {
  ConvKind kind = ConvKind::kSubmanifold;
  Dims kernel;          ///< ndim, ≥ 1
  Dims stride;          ///< ndim, ≥ 1
  Dims padding;         ///< ndim, ≥ 0
  Dims dilation;        ///< ndim, ≥ 1
  Dims output_padding;  ///< ndim, ≥ 0; transposed only: rows added to the output extent
  SiteRule sites = SiteRule::kReached;

  /// Fills what is left empty (stride 1, padding 0 or the one that the kind or rule fixes, dilation 1) and
  /// checks every value.
  ///   throws InvalidArgument naming the field: even submanifold kernels, values below their least, wrong
  ///   counts, a padding other than the fixed one, a rule that the kind does not have
  static KernelSpec make(ConvKind kind, const Dims& kernel, const Dims& stride = {}, const Dims& padding = {},
                         const Dims& dilation = {}, const Dims& output_padding = {},
                         SiteRule sites = SiteRule::kReached);

  int ndim() const noexcept { return kernel.size(); }
  std::int64_t volume() const { return kernel.product(); }  ///< K
  bool is_pointwise() const noexcept;  ///< K = 1, stride 1, padding 0: a matrix product, no map
  bool keeps_sites()
      const noexcept;  ///< the output sites are the input's: submanifold, Minkowski of stride 1
  Dims tap(std::int64_t offset) const;               ///< the tap of kernel offset number `offset`
  Dims output_shape(const Dims& input_shape) const;  ///< InvalidArgument if an extent would fall below 1
  bool operator==(const KernelSpec&) const = default;
  std::string str() const;  ///< "kind=subm:kernel=3x3x3:stride=1x1x1:padding=1x1x1:dilation=1x1x1", then
                            ///< ":output_padding=…" of transposed layers and ":sites=minkowski" of that rule
};

/// Pairs (input row, output row) per kernel offset, offset-major, sorted by output row within an offset.
/// Immutable. Rows are 32-bit, counts of pairs 64-bit.
class KernelMap {
 public:
  KernelSpec spec;
  std::int64_t n_in = 0;
  std::int64_t n_out = 0;
  std::uint64_t in_id = 0;      ///< id() of the input coordinate set
  std::uint64_t out_id = 0;     ///< id() of the output coordinate set
  Coordinates new_coordinates;  ///< the output sites, where they are not the input's; else undefined
  Tensor in_rows;               ///< [pairs] i32
  Tensor out_rows;              ///< [pairs] i32
  Tensor offset_begin;          ///< [K+1] i64
  double build_ms = 0;          ///< wall time of the build

  std::int64_t pairs() const noexcept { return in_rows.numel(); }
  std::int64_t pairs_of(std::int64_t offset) const;  ///< pairs of one kernel offset

  /// The neighbour table [N_out, K] i32, −1 = none.
  Tensor neighbour_table() const;
};

/// Input and output rows swapped, same taps, sorted again by output row: the map of an inverse convolution.
std::shared_ptr<const KernelMap> swap_map(const KernelMap& map);

}  // namespace aerogel
