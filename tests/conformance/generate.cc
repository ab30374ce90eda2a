#include "conformance/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <fmt/core.h>

namespace aerogel::testing {

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::int64_t Random::integer(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
}

Tensor signed_tensor(Random& random, const Dims& shape, DType dtype) {
  Tensor tensor = Tensor::empty(shape, DType::kF32);
  std::generate_n(tensor.mutable_data<float>(), tensor.numel(), [&] { return random.signed_unit(); });
  return tensor.to(dtype);
}

std::string random_dtype(Random& random) {
  constexpr const char* kNames[] = {"f32", "f32", "f16", "bf16"};
  return fmt::format("dtype={}", kNames[random.integer(0, 3)]);
}

DType dtype_of(const ProblemString& problem) {
  return problem.has("dtype") ? parse_dtype(problem.text("dtype")) : DType::kF32;
}

double rounding_of(DType dtype, double value) {
  if (dtype == DType::kF16) return std::max(std::abs(value) * 0x1p-11, 0x1p-25);  // below 2^-14 a fixed step
  if (dtype == DType::kBF16) return std::abs(value) * 0x1p-8;
  return std::abs(value) * 0x1p-24;
}

std::vector<double> doubles(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::kF32);
  const auto* values = wide.data<float>();
  return {values, values + wide.numel()};
}

Coordinates random_sites(Random& random, const Dims& shape, std::int64_t batch, std::int64_t count,
                         bool sorted) {
  const int width = 1 + shape.size();
  std::set<std::vector<std::int32_t>> rows;
  std::vector<std::int32_t> row(static_cast<std::size_t>(width));
  for (std::int64_t tries = 0; tries < 4 * count && static_cast<std::int64_t>(rows.size()) < count; ++tries) {
    // Mostly a step from the last site, so that windows overlap; sometimes a jump anywhere, corners included.
    const bool jump = rows.empty() || random.integer(0, 9) == 0;
    if (jump) {
      row[0] = static_cast<std::int32_t>(random.integer(0, batch - 1));
      for (int axis = 0; axis < shape.size(); ++axis) {
        const std::int64_t pick = random.integer(0, 5);
        row[static_cast<std::size_t>(1 + axis)] = static_cast<std::int32_t>(
            pick == 0 ? 0 : (pick == 1 ? shape[axis] - 1 : random.integer(0, shape[axis] - 1)));
      }
    } else {
      const auto axis = static_cast<std::size_t>(random.integer(0, shape.size() - 1));
      const std::int64_t moved = row[1 + axis] + random.integer(-2, 2);
      row[1 + axis] =
          static_cast<std::int32_t>(std::clamp<std::int64_t>(moved, 0, shape[static_cast<int>(axis)] - 1));
    }
    rows.insert(row);
  }
  std::vector<std::vector<std::int32_t>> order(rows.begin(), rows.end());
  if (!sorted) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1],
                order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }
  Tensor indices = Tensor::empty({static_cast<std::int64_t>(order.size()), width}, DType::kI32);
  auto* to = indices.mutable_data<std::int32_t>();
  for (const auto& site : order) to = std::copy(site.begin(), site.end(), to);
  return Coordinates::create(indices, shape, batch);
}

Coordinates sites_of(const ProblemString& problem, Random& random) {
  return random_sites(random, problem.dims("shape"), problem.integer("batch"), problem.integer("n"),
                      problem.text("order") == "sorted");
}

KernelSpec spec_of(const ProblemString& problem) {
  return KernelSpec::make(parse_conv_kind(problem.text("kind")), problem.dims("kernel"),
                          problem.dims("stride"), problem.dims("padding"), problem.dims("dilation"),
                          problem.has("output_padding") ? problem.dims("output_padding") : Dims{},
                          problem.has("sites") ? parse_site_rule(problem.text("sites")) : SiteRule::kReached);
}

std::shared_ptr<const KernelMap> reference_map(const Coordinates& in, const KernelSpec& spec) {
  auto map = std::make_shared<KernelMap>();
  MapArgs args;
  args.in = in;
  args.spec = spec;
  if (spec.kind == ConvKind::kInverse) args.spec.kind = ConvKind::kRegular;
  args.out = map.get();
  run_row(reference_row<MapArgs>(&KernelTables::build_kernel_map), args, 1);
  if (spec.kind != ConvKind::kInverse) return map;
  map = std::const_pointer_cast<KernelMap>(swap_map(*map));
  map->spec = spec;
  return map;
}

std::string random_geometry(Random& random, Kinds kinds) {
  const int ndim = static_cast<int>(random.integer(1, kMaxNdim));
  const auto kind = static_cast<ConvKind>(random.integer(0, kinds == Kinds::kAll ? 3 : 2));
  const bool all_odd = kind == ConvKind::kSubmanifold || random.integer(0, 2) == 0;
  const bool minkowski = kind != ConvKind::kSubmanifold && random.integer(0, 2) == 0;
  // Now and then a field so wide that keys must not wrap: of nearly 2^63 cells, which from three axes on take
  // more than 63 bits, since every axis takes whole bits.
  constexpr std::int64_t kWidest[kMaxNdim] = {2000000000, 1200000000, 1300000, 38000};
  const std::int64_t width = random.integer(0, 11);
  const std::int64_t widest = kWidest[ndim - 1];
  const std::int64_t extent =
      width == 0 ? widest : (width == 1 ? std::min<std::int64_t>(1 << 20, widest) : (ndim > 2 ? 12 : 40));
  constexpr std::int64_t kLargest[kMaxNdim] = {151, 13, 5, 4};  // that the double sums still take
  Dims shape, kernel, stride, padding, dilation, output_padding;
  for (int axis = 0; axis < ndim; ++axis) {
    const std::int64_t largest = random.integer(0, 5) == 0 ? kLargest[ndim - 1] : 3;
    const std::int64_t k = random.integer(1, largest);
    const std::int64_t d = random.integer(1, 2);
    const std::int64_t s = random.integer(1, 3);
    const bool submanifold = kind == ConvKind::kSubmanifold;
    kernel.push_back(all_odd ? k | 1 : k);
    stride.push_back(submanifold ? 1 : s);
    dilation.push_back(d);
    const std::int64_t centred = kernel[axis] % 2 == 1 ? d * (kernel[axis] - 1) / 2 : 0;
    padding.push_back(submanifold || minkowski ? centred : random.integer(0, k / 2));
    output_padding.push_back(kind == ConvKind::kTransposed ? random.integer(0, s - 1) : 0);
    const std::int64_t least = d * (kernel[axis] - 1) + 1;  // a window fits
    const std::int64_t limit = kind == ConvKind::kTransposed ? extent / 4 + 1 : extent;
    shape.push_back(std::max(least, random.integer(1, limit)));
  }
  std::string text =
      fmt::format("kind={}:kernel={}:stride={}:padding={}:dilation={}", conv_kind_name(kind),
                  kernel.joined('x'), stride.joined('x'), padding.joined('x'), dilation.joined('x'));
  if (kind == ConvKind::kTransposed) text += ":output_padding=" + output_padding.joined('x');
  if (minkowski) text += ":sites=minkowski";
  const std::int64_t n = random.integer(0, 9) == 0 ? 0 : random.integer(1, 400);
  return fmt::format("{}:shape={}:batch={}:n={}:order={}:seed={}", text, shape.joined('x'),
                     random.integer(1, 3), n, random.integer(0, 1) ? "sorted" : "shuffled",
                     random.integer(0, 1 << 30));
}

const std::vector<std::string>& rare_geometries() {
  static const std::vector<std::string> all = {
      "kind=subm:kernel=7x7x7:stride=1x1x1:padding=3x3x3:dilation=1x1x1:shape=12x11x13:batch=2:n=400:"
      "order=shuffled:seed=1",  // 343 offsets
      "kind=subm:kernel=3x3x3x3:stride=1x1x1x1:padding=1x1x1x1:dilation=1x1x1x1:shape=5x6x7x8:batch=2:n=300:"
      "order=shuffled:seed=2",
      "kind=subm:kernel=1x3x5x3:stride=1x1x1x1:padding=0x2x2x1:dilation=1x2x1x1:shape=3x6x7x8:batch=1:n=300:"
      "order=sorted:seed=3",
      "kind=regular:kernel=3x2x3x2:stride=2x2x1x3:padding=1x0x1x1:dilation=1x1x2x1:"
      "shape=6x5x7x8:batch=2:n=300:order=shuffled:seed=4",
      "kind=transposed:kernel=2x3x2x3:stride=2x2x1x3:padding=0x1x0x1:dilation=1x1x1x2:output_padding=0x1x0x2:"
      "shape=4x5x3x6:batch=2:n=200:order=shuffled:seed=5",
      "kind=inverse:kernel=3x2x3x2:stride=2x2x1x3:padding=1x0x1x1:dilation=1x1x2x1:"
      "shape=6x5x7x8:batch=2:n=300:order=shuffled:seed=6",
  };
  return all;
}

void for_each_problem(const std::string& op, int count, const std::function<std::string(Random&)>& generate,
                      const std::function<void(const ProblemString&)>& check,
                      const std::vector<std::string>& fixed) {
  std::vector<std::string> problems = fixed;
  for (int i = 0; i < count; ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1);
    problems.push_back(generate(random));
  }
  if (const char* forced = std::getenv("AEROGEL_PROBLEM")) {
    problems.clear();
    if (ProblemString(forced).op() == op) problems.emplace_back(forced);
  }
  for (const std::string& text : problems) {
    SCOPED_TRACE("rerun with AEROGEL_PROBLEM='" + text + "'");
    check(ProblemString(text));
    if (::testing::Test::HasFailure()) return;  // one problem string is enough
  }
}

void expect_same_bits(const Tensor& got, const Tensor& expected, const char* what) {
  ASSERT_EQ(got.str(), expected.str()) << what;
  if (got.numel() == 0) return;
  const auto* a = static_cast<const unsigned char*>(got.raw());
  const auto* b = static_cast<const unsigned char*>(expected.raw());
  const auto bytes = static_cast<std::size_t>(expected.nbytes());
  const auto differs = std::mismatch(a, a + bytes, b).first - a;
  EXPECT_EQ(static_cast<std::size_t>(differs), bytes)
      << what << " " << expected.str() << ": first difference in element "
      << differs / static_cast<std::ptrdiff_t>(itemsize(expected.dtype()));
}

void expect_within(const Tensor& got, const std::vector<double>& expected, const std::vector<double>& bound) {
  ASSERT_EQ(got.numel(), static_cast<std::int64_t>(expected.size()));
  const std::vector<double> values = doubles(got);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(values[i])) continue;
    if (values[i] == expected[i]) continue;  // infinities too
    const double ratio = std::abs(values[i] - expected[i]) / bound[i];
    if (!(ratio <= worst)) {
      worst = ratio;
      at = i;
      if (std::isnan(ratio)) break;
    }
  }
  EXPECT_LE(worst, 1.0) << "element " << at << ": got " << (expected.empty() ? 0 : values[at])
                        << ", expected " << (expected.empty() ? 0 : expected[at]) << ", bound "
                        << (expected.empty() ? 0 : bound[at]);
}

Tensor integer_tensor(Random& random, const Dims& shape) {
  Tensor tensor = Tensor::empty(shape, DType::kI8);
  std::generate_n(tensor.mutable_data<std::int8_t>(), tensor.numel(),
                  [&] { return static_cast<std::int8_t>(random.integer(-128, 127)); });
  return tensor;
}

Tensor poisoned(const Dims& shape, DType dtype) {
  if (dtype == DType::kI8) {
    Tensor integers = Tensor::empty(shape, dtype);
    std::fill_n(integers.mutable_data<std::int8_t>(), integers.numel(), std::int8_t{85});
    return integers;
  }
  Tensor tensor = Tensor::empty(shape, DType::kF32);
  std::fill_n(tensor.mutable_data<float>(), tensor.numel(), std::numeric_limits<float>::quiet_NaN());
  return tensor.to(dtype);
}

}  // namespace aerogel::testing
