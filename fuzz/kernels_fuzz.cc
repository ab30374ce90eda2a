// The differential target: a random small layer, and every map and convolution row must agree with the
// reference.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "aerogel/error.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/plan.h"

#include "fuzz_target.h"

namespace {

using namespace aerogel;

/// Numbers from the input, zeros behind its end.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  std::int64_t next(std::int64_t low, std::int64_t high) {
    const int byte = at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) : 0;
    return low + byte % (high - low + 1);
  }
  bool more() const { return at_ < bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// Signed values in [-1, 1) from a seed, and their magnitudes.
struct Signed {
  Tensor values;
  Tensor magnitudes;
};

Signed signed_values(std::uint64_t seed, const Dims& shape) {
  Signed made{Tensor::empty(shape, DType::kF32), Tensor::empty(shape, DType::kF32)};
  for (std::int64_t i = 0; i < made.values.numel(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const float value = static_cast<float>(static_cast<std::int64_t>(seed >> 40) - (1 << 23)) * 0x1p-23F;
    made.values.mutable_data<float>()[i] = value;
    made.magnitudes.mutable_data<float>()[i] = std::fabs(value);
  }
  return made;
}

struct Layer {
  ConvKind kind = ConvKind::kSubmanifold;
  Dims extents;
  std::int64_t batch = 1;
  Tensor indices;
  ConvOptions options;
  Signed features;
  Signed weight;
  Signed bias;
};

Layer layer_from(Numbers& numbers) {
  Layer layer;
  const auto ndim = static_cast<int>(numbers.next(1, 4));
  layer.kind = static_cast<ConvKind>(numbers.next(0, 2));
  const bool subm = layer.kind == ConvKind::kSubmanifold;
  layer.batch = numbers.next(1, 2);
  const std::int64_t groups = numbers.next(1, 3);
  const std::int64_t c_in = numbers.next(1, 20);
  const std::int64_t c_out = numbers.next(1, 40);
  Dims weight{c_out * groups};
  for (int axis = 0; axis < ndim; ++axis) {
    layer.extents.push_back(numbers.next(1, 12));
    weight.push_back(subm ? 2 * numbers.next(0, 2) + 1 : numbers.next(1, 4));
    layer.options.dilation.push_back(numbers.next(1, 3));
    if (subm) continue;
    layer.options.stride.push_back(numbers.next(1, 3));
    layer.options.padding.push_back(numbers.next(0, 3));
  }
  if (!subm && numbers.next(0, 3) == 0) {
    layer.options.sites = SiteRule::kMinkowski;
    layer.options.padding = {};
  }
  layer.options.groups = groups;
  weight.push_back(c_in);
  const auto seed = static_cast<std::uint64_t>(numbers.next(0, 255));
  std::vector<std::int32_t> rows;
  for (std::int64_t n = 0; n < 60 && numbers.more(); ++n) {
    rows.push_back(static_cast<std::int32_t>(numbers.next(0, layer.batch - 1)));
    for (int axis = 0; axis < ndim; ++axis)
      rows.push_back(static_cast<std::int32_t>(numbers.next(0, layer.extents[axis] - 1)));
  }
  const std::int64_t n = static_cast<std::int64_t>(rows.size()) / (ndim + 1);
  layer.indices = Tensor::from<std::int32_t>({n, ndim + 1}, rows);
  layer.features = signed_values(seed + 1, {n, c_in * groups});
  layer.weight = signed_values(seed + 2, weight);
  layer.bias = signed_values(seed + 3, {c_out * groups});
  return layer;
}

/// One run on sites of its own, so that no map is found again. `magnitudes`: the sum of absolute terms.
SparseTensor run(const Layer& layer, bool magnitudes, const ExecOptions& exec) {
  const auto pick = [&](const Signed& both) { return magnitudes ? both.magnitudes : both.values; };
  const SparseTensor in = SparseTensor::create(pick(layer.features), layer.indices, layer.extents,
                                               layer.batch, Duplicates::kFirst);
  constexpr decltype(&subm_conv) kVerbs[] = {&subm_conv, &sparse_conv, &transposed_conv};
  return kVerbs[static_cast<int>(layer.kind)](in, pick(layer.weight), layer.options,
                                              {.bias = pick(layer.bias)}, exec);
}

[[noreturn]] void disagree(const std::string& kernel, const std::string& what) {
  std::fprintf(stderr, "%s disagrees with the reference: %s\n", kernel.c_str(), what.c_str());
  std::abort();
}

void compare(const std::string& kernel, const SparseTensor& got, const SparseTensor& expected,
             const Tensor& abs_sum, double terms) {
  const Tensor& ours = got.coordinates.indices();
  const Tensor& theirs = expected.coordinates.indices();
  if (ours.shape() != theirs.shape()) disagree(kernel, ours.str() + " sites, not " + theirs.str());
  for (std::int64_t i = 0; i < ours.numel(); ++i) {
    if (ours.data<std::int32_t>()[i] != theirs.data<std::int32_t>()[i]) disagree(kernel, "other sites");
  }
  for (std::int64_t i = 0; i < abs_sum.numel(); ++i) {
    const double error = std::fabs(static_cast<double>(got.features.data<float>()[i]) -
                                   static_cast<double>(expected.features.data<float>()[i]));
    // Both are rounded; the magnitudes' own sum errs too, by far less than the factor 2.
    if (!(error <= 2 * terms * 0x1p-24 * static_cast<double>(abs_sum.data<float>()[i])))
      disagree(kernel, "element " + std::to_string(i) + " is off by " + std::to_string(error));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(fuzz_bytes(data, size));
  const Layer layer = layer_from(numbers);
  ExecOptions reference;
  reference.backend = Backend::kReference;
  reference.threads = 1;
  SparseTensor expected;
  try {
    expected = run(layer, false, reference);
  } catch (const InvalidArgument&) {
    return 0;  // a geometry that no layer may have
  }
  const Tensor abs_sum = run(layer, true, reference).features;
  const auto terms = static_cast<double>(layer.weight.values.numel() / layer.weight.values.size(0) + 2);
  static const std::vector<KernelInfo> kernels = list_kernels();
  for (const KernelInfo& kernel : kernels) {
    const bool concerned = kernel.name.find("/sparse_conv/") != std::string::npos ||
                           kernel.name.find("/build_kernel_map/") != std::string::npos ||
                           kernel.name.find("/linear/") != std::string::npos;
    if (!concerned || kernel.name.rfind("cpu/", 0) != 0) continue;
    ExecOptions exec;
    exec.threads = 1;
    exec.kernel = kernel.name;
    try {
      compare(kernel.name, run(layer, false, exec), expected, abs_sum, terms);
    } catch (const Unsupported&) {  // a row for other layers
    }
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (int kind = 0; kind < 3; ++kind) {
    for (int ndim = 0; ndim < 4; ++ndim) {
      std::string seed = {static_cast<char>(ndim), static_cast<char>(kind), 0, 0, 5, 9};
      for (int i = 0; i < 150; ++i) seed += static_cast<char>((i * 37 + kind * 11 + ndim) % 251);
      seeds.push_back(seed);
    }
  }
  return seeds;
}
