#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/kernel_map.h"

namespace aerogel {
namespace {

constexpr std::string_view kRuleNames[] = {"reached", "minkowski", "blocks"};
constexpr std::string_view kKindNames[] = {"subm", "regular", "transposed", "inverse"};

/// `given` or `otherwise` on every axis, checked for count and least value.
Dims per_axis(const char* name, const Dims& given, int ndim, std::int64_t otherwise, std::int64_t least) {
  if (given.empty()) return Dims::filled(ndim, otherwise);
  if (given.size() != ndim) {
    throw InvalidArgument(
        fmt::format("[kernel_spec] {} has {} values, the kernel has {} axes", name, given.str(), ndim));
  }
  for (std::int64_t value : given) {
    if (value < least || value > std::numeric_limits<std::int32_t>::max()) {
      throw InvalidArgument(
          fmt::format("[kernel_spec] {} must be at least {}, got {}", name, least, given.str()));
    }
  }
  return given;
}

/// Odd kernels are centred, even ones start at their site. A padding that was given must say the same.
void fix_padding(KernelSpec& spec, bool given) {
  for (int axis = 0; axis < spec.ndim(); ++axis) {
    const bool odd = spec.kernel[axis] % 2 == 1;
    const std::int64_t fixed = odd ? spec.dilation[axis] * ((spec.kernel[axis] - 1) / 2) : 0;
    if (given && spec.padding[axis] != fixed) {
      throw InvalidArgument(fmt::format("[kernel_spec] {} padding is {} = {} on axis {}, got {}",
                                        spec.sites == SiteRule::kMinkowski ? "minkowski" : "submanifold",
                                        odd ? "dilation·(kernel−1)/2" : "that of an even kernel", fixed, axis,
                                        spec.padding.str()));
    }
    spec.padding[axis] = fixed;
  }
}

void check_blocks(const KernelSpec& spec) {
  const int ndim = spec.ndim();
  if (spec.kernel != spec.stride || spec.padding != Dims::filled(ndim, 0) ||
      spec.dilation != Dims::filled(ndim, 1)) {
    throw InvalidArgument(fmt::format(
        "[kernel_spec] blocks have kernel = stride, padding 0 and dilation 1, got {}", spec.str()));
  }
  if (spec.kind == ConvKind::kTransposed) {
    throw InvalidArgument("[kernel_spec] transposed layers have blocks by the rule reached, not blocks");
  }
}

}  // namespace

std::string_view conv_kind_name(ConvKind kind) noexcept { return kKindNames[static_cast<int>(kind)]; }

ConvKind parse_conv_kind(std::string_view name) {
  for (int i = 0; i < 4; ++i) {
    if (kKindNames[i] == name) return static_cast<ConvKind>(i);
  }
  throw InvalidArgument(
      fmt::format("[conv_kind] expected subm, regular, transposed or inverse, got '{}'", name));
}

std::string_view site_rule_name(SiteRule rule) noexcept { return kRuleNames[static_cast<int>(rule)]; }

SiteRule parse_site_rule(std::string_view name) {
  for (int i = 0; i < 3; ++i) {
    if (kRuleNames[i] == name) return static_cast<SiteRule>(i);
  }
  throw InvalidArgument(fmt::format("[site_rule] expected reached, minkowski or blocks, got '{}'", name));
}

KernelSpec KernelSpec::make(ConvKind kind, const Dims& kernel, const Dims& stride, const Dims& padding,
                            const Dims& dilation, const Dims& output_padding, SiteRule sites) {
  const int ndim = kernel.size();
  if (ndim < 1 || ndim > kMaxNdim) {
    throw InvalidArgument(
        fmt::format("[kernel_spec] kernel must have 1 to {} axes, got {}", kMaxNdim, kernel.str()));
  }
  KernelSpec spec;
  spec.kind = kind;
  spec.sites = sites;
  spec.kernel = per_axis("kernel", kernel, ndim, 1, 1);
  spec.stride = per_axis("stride", stride, ndim, 1, 1);
  spec.dilation = per_axis("dilation", dilation, ndim, 1, 1);
  spec.padding = per_axis("padding", padding, ndim, 0, 0);
  spec.output_padding = per_axis("output_padding", output_padding, ndim, 0, 0);
  spec.kernel.product();  // refuses a volume past 63 bits
  if (kind == ConvKind::kSubmanifold) {
    for (int axis = 0; axis < ndim; ++axis) {
      if (spec.kernel[axis] % 2 == 0) {
        throw InvalidArgument(fmt::format(
            "[kernel_spec] a submanifold kernel must be odd on every axis, got {}", spec.kernel.str()));
      }
      if (spec.stride[axis] != 1) {
        throw InvalidArgument(
            fmt::format("[kernel_spec] a submanifold stride must be 1, got {}", spec.stride.str()));
      }
    }
    if (sites != SiteRule::kReached) {
      throw InvalidArgument(
          fmt::format("[kernel_spec] submanifold layers keep their sites: rule {} is not for them",
                      site_rule_name(sites)));
    }
  }
  if (kind == ConvKind::kSubmanifold || sites == SiteRule::kMinkowski) fix_padding(spec, !padding.empty());
  if (sites == SiteRule::kBlocks) check_blocks(spec);
  if (kind != ConvKind::kTransposed && spec.output_padding != Dims::filled(ndim, 0)) {
    throw InvalidArgument(fmt::format("[kernel_spec] output_padding is for transposed layers, got {} for {}",
                                      spec.output_padding.str(), conv_kind_name(kind)));
  }
  return spec;
}

bool KernelSpec::is_pointwise() const noexcept {
  for (int axis = 0; axis < ndim(); ++axis) {
    if (kernel[axis] != 1 || stride[axis] != 1 || padding[axis] != 0 || output_padding[axis] != 0)
      return false;
  }
  return true;
}

bool KernelSpec::keeps_sites() const noexcept {
  if (kind == ConvKind::kSubmanifold) return true;
  return kind == ConvKind::kRegular && sites != SiteRule::kReached && stride == Dims::filled(ndim(), 1);
}

Dims KernelSpec::tap(std::int64_t offset) const {
  Dims tap = kernel;
  for (int axis = ndim() - 1; axis >= 0; --axis) {
    tap[axis] = offset % kernel[axis];
    offset /= kernel[axis];
  }
  return tap;
}

Dims KernelSpec::output_shape(const Dims& input_shape) const {
  if (input_shape.size() != ndim()) {
    throw InvalidArgument(fmt::format("[kernel_spec] the kernel {} has {} axes, the spatial shape {} has {}",
                                      kernel.str(), ndim(), input_shape.str(), input_shape.size()));
  }
  if (keeps_sites()) return input_shape;
  Dims out = input_shape;
  for (int axis = 0; axis < ndim(); ++axis) {
    const std::int64_t reach = dilation[axis] * (kernel[axis] - 1);
    if (sites == SiteRule::kMinkowski && kind == ConvKind::kTransposed) {  // all but what falls below 0
      const std::int64_t reached = (input_shape[axis] - 1) * stride[axis] + reach - padding[axis] + 1;
      out[axis] = std::max(input_shape[axis] * stride[axis], reached) + output_padding[axis];
    } else if (sites != SiteRule::kReached) {
      out[axis] = (input_shape[axis] - 1) / stride[axis] + 1;
    } else if (kind == ConvKind::kTransposed) {
      out[axis] =
          (input_shape[axis] - 1) * stride[axis] - 2 * padding[axis] + reach + 1 + output_padding[axis];
    } else {  // regular, and the regular layer that an inverse one undoes
      const std::int64_t span = input_shape[axis] + 2 * padding[axis] - reach - 1;
      out[axis] = span < 0 ? 0 : span / stride[axis] + 1;
    }
    if (out[axis] < 1 || out[axis] > std::numeric_limits<std::int32_t>::max()) {
      throw InvalidArgument(
          fmt::format("[kernel_spec] the output extent on axis {} would be {} for input {} and {}", axis,
                      out[axis], input_shape.str(), str()));
    }
  }
  return out;
}

std::string KernelSpec::str() const {
  std::string text =
      fmt::format("kind={}:kernel={}:stride={}:padding={}:dilation={}", conv_kind_name(kind),
                  kernel.joined('x'), stride.joined('x'), padding.joined('x'), dilation.joined('x'));
  if (kind == ConvKind::kTransposed) text += ":output_padding=" + output_padding.joined('x');
  if (sites != SiteRule::kReached) text += fmt::format(":sites={}", site_rule_name(sites));
  return text;
}

}  // namespace aerogel
