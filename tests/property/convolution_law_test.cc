// Laws that hold for any convolution, whatever the numbers: symmetry, linearity, adjointness, equivariance.
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "aerogel/ops/convolution.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

/// A generated problem at its simplest: sites, geometry, channels.
struct Drawn {
  Coordinates sites;
  KernelSpec spec;
  std::int64_t c_in = 5;
  std::int64_t c_out = 7;
  Random random;

  explicit Drawn(const ProblemString& problem)
      : spec(spec_of(problem)), random(static_cast<std::uint64_t>(problem.integer("seed"))) {
    sites = sites_of(problem, random);
  }
  SparseTensor features() { return {signed_tensor(random, {sites.size(), c_in}), sites}; }
  Tensor weight_tensor() {
    Dims shape{c_out};
    for (const std::int64_t extent : spec.kernel) shape.push_back(extent);
    shape.push_back(c_in);
    return signed_tensor(random, shape);
  }
};

SparseTensor convolve(const SparseTensor& in, const ConvWeight& weight, const KernelSpec& spec,
                      const Epilogue& epilogue = {}) {
  const ConvOptions options{spec.stride, spec.padding, spec.dilation,
                            spec.kind == ConvKind::kTransposed ? spec.output_padding : Dims{}, spec.sites};
  switch (spec.kind) {
    case ConvKind::kSubmanifold:
      return subm_conv(in, weight, options, epilogue);
    case ConvKind::kTransposed:
      return transposed_conv(in, weight, options, epilogue);
    default:
      return sparse_conv(in, weight, options, epilogue);
  }
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.str(), b.str());
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    ASSERT_NEAR(a.data<float>()[i], b.data<float>()[i], tolerance) << "element " << i;
  }
}

void for_each_geometry(const char* name, int count, const std::function<void(Drawn&)>& check) {
  for_each_problem(
      name, count,
      [name](Random& random) { return fmt::format("{}:{}", name, random_geometry(random, Kinds::kForward)); },
      [&](const ProblemString& problem) {
        Drawn drawn(problem);
        check(drawn);
      });
}

TEST(ConvolutionLaw, SubmanifoldMapsAreSymmetric) {
  for_each_geometry("symmetric", 60, [](Drawn& drawn) {
    if (drawn.spec.kind != ConvKind::kSubmanifold) return;
    const auto map = build_kernel_map(drawn.sites, drawn.spec);
    const Tensor table = map->neighbour_table();
    const std::int64_t volume = drawn.spec.volume();
    for (std::int64_t o = 0; o < map->n_out; ++o) {
      EXPECT_EQ(table.data<std::int32_t>()[o * volume + volume / 2], o)
          << "the centre tap is the site itself";
      for (std::int64_t k = 0; k < volume; ++k) {
        const std::int32_t i = table.data<std::int32_t>()[o * volume + k];
        if (i >= 0) {
          EXPECT_EQ(table.data<std::int32_t>()[i * volume + (volume - 1 - k)], o);
        }
      }
    }
  });
}

TEST(ConvolutionLaw, IsLinear) {
  for_each_geometry("linear_law", 40, [](Drawn& drawn) {
    const SparseTensor x = drawn.features();
    const SparseTensor y = drawn.features();
    const ConvWeight weight(drawn.weight_tensor());
    const SparseTensor together = convolve(add(x, y), weight, drawn.spec);
    const SparseTensor apart = add(convolve(x, weight, drawn.spec), convolve(y, weight, drawn.spec));
    expect_near(together.features, apart.features, 1e-4);
  });
}

// ⟨conv(x), y⟩ = ⟨x, inverse_conv(y)⟩ with the weight's channels swapped: the inverse layer is the adjoint.
TEST(ConvolutionLaw, InverseIsTheAdjointOfRegular) {
  for_each_geometry("adjoint", 60, [](Drawn& drawn) {
    if (drawn.spec.kind != ConvKind::kRegular || drawn.spec.is_pointwise()) return;
    const SparseTensor x = drawn.features();
    const Tensor weight = drawn.weight_tensor();
    const SparseTensor forward = convolve(x, weight, drawn.spec);
    const SparseTensor y = forward.with_features(signed_tensor(drawn.random, forward.features.shape()));
    std::vector<int> axes(static_cast<std::size_t>(weight.shape().size()));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes.front(), axes.back());
    const SparseTensor back =
        inverse_conv(y, drawn.sites, weight.permute(axes).contiguous(),
                     {drawn.spec.stride, drawn.spec.padding, drawn.spec.dilation, {}, drawn.spec.sites});
    const auto dot = [](const Tensor& a, const Tensor& b) {
      double sum = 0;
      for (std::int64_t i = 0; i < a.numel(); ++i)
        sum += double{a.data<float>()[i]} * double{b.data<float>()[i]};
      return sum;
    };
    EXPECT_NEAR(dot(forward.features, y.features), dot(x.features, back.features),
                1e-4 * (1 + std::sqrt(static_cast<double>(forward.features.numel()))));
  });
}

TEST(ConvolutionLaw, RowOrderDoesNotMatter) {
  for_each_geometry("row_order", 40, [](Drawn& drawn) {
    const SparseTensor x = drawn.features();
    const ConvWeight weight(drawn.weight_tensor());
    const std::int64_t n = x.sites();
    const std::int64_t width = drawn.sites.indices().size(1);
    Tensor indices = Tensor::empty({n, width}, DType::kI32);  // the rows backwards
    Tensor features = Tensor::empty(x.features.shape(), DType::kF32);
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(drawn.sites.row(i), width, indices.mutable_data<std::int32_t>() + (n - 1 - i) * width);
      std::copy_n(x.features.data<float>() + i * drawn.c_in, drawn.c_in,
                  features.mutable_data<float>() + (n - 1 - i) * drawn.c_in);
    }
    const SparseTensor backwards =
        SparseTensor::create(features, indices, drawn.sites.spatial_shape(), drawn.sites.batch_size());
    const SparseTensor expected = convolve(x, weight, drawn.spec);
    const SparseTensor got = convolve(backwards, weight, drawn.spec);
    ASSERT_EQ(got.sites(), expected.sites());
    const bool reversed = drawn.spec.keeps_sites() || drawn.spec.is_pointwise();
    for (std::int64_t i = 0; i < got.sites(); ++i) {
      const std::int64_t at = reversed ? n - 1 - i : i;
      for (std::int64_t c = 0; c < drawn.c_out; ++c) {
        ASSERT_NEAR(got.features.data<float>()[at * drawn.c_out + c],
                    expected.features.data<float>()[i * drawn.c_out + c], 1e-4);
      }
    }
  });
}

TEST(ConvolutionLaw, BatchItemsDoNotMix) {
  const auto spec = KernelSpec::make(ConvKind::kRegular, {3, 3, 3}, {2, 2, 2}, {1, 1, 1});
  Random random(5);
  const Coordinates both = random_sites(random, {8, 8, 8}, 2, 300, true);
  const SparseTensor x{signed_tensor(random, {both.size(), 4}), both};
  const ConvWeight weight(signed_tensor(random, {6, 3, 3, 3, 4}));
  const SparseTensor together = convolve(x, weight, spec);
  std::int64_t row = 0;
  for (std::int32_t item = 0; item < 2; ++item) {
    std::int64_t begin = 0;
    while (begin < both.size() && both.row(begin)[0] != item) ++begin;
    std::int64_t end = begin;
    while (end < both.size() && both.row(end)[0] == item) ++end;
    Tensor indices = both.indices().slice_rows(begin, end).clone();
    for (std::int64_t i = 0; i < end - begin; ++i) indices.mutable_data<std::int32_t>()[i * 4] = 0;
    const SparseTensor alone = convolve(
        SparseTensor::create(x.features.slice_rows(begin, end), indices, {8, 8, 8}, 1), weight, spec);
    expect_near(together.features.slice_rows(row, row + alone.sites()).clone(), alone.features, 1e-5);
    row += alone.sites();
  }
  EXPECT_EQ(row, together.sites());
}

// The dense convolution by its own formula, at the sites that the sparse one gives; zero everywhere else.
TEST(ConvolutionLaw, AgreesWithTheDenseConvolution) {
  for (const std::int64_t stride : {1, 2}) {
    Random random(static_cast<std::uint64_t>(stride));
    const Dims shape{9, 8};
    const Coordinates sites = random_sites(random, shape, 1, 40, false);
    const SparseTensor x{signed_tensor(random, {sites.size(), 3}), sites};
    const Tensor weight = signed_tensor(random, {4, 3, 2, 3});
    const std::int64_t pad[] = {1, 0};
    const std::int64_t dilation[] = {2, 1};
    const SparseTensor sparse = sparse_conv(x, weight, {{stride, stride}, {1, 0}, {2, 1}, {}});
    const Tensor in = to_dense(x, DenseLayout::kChannelsLast);
    const Tensor out = to_dense(sparse, DenseLayout::kChannelsLast);
    for (std::int64_t y = 0; y < out.size(1); ++y) {
      for (std::int64_t xx = 0; xx < out.size(2); ++xx) {
        for (std::int64_t n = 0; n < 4; ++n) {
          double sum = 0;
          for (std::int64_t ky = 0; ky < 3; ++ky) {
            for (std::int64_t kx = 0; kx < 2; ++kx) {
              const std::int64_t iy = y * stride + ky * dilation[0] - pad[0];
              const std::int64_t ix = xx * stride + kx * dilation[1] - pad[1];
              if (iy < 0 || iy >= shape[0] || ix < 0 || ix >= shape[1]) continue;
              for (std::int64_t c = 0; c < 3; ++c) {
                sum += double{in.data<float>()[(iy * shape[1] + ix) * 3 + c]} *
                       double{weight.data<float>()[((n * 3 + ky) * 2 + kx) * 3 + c]};
              }
            }
          }
          EXPECT_NEAR(out.data<float>()[(y * out.size(2) + xx) * 4 + n], sum, 1e-5);
        }
      }
    }
  }
}

TEST(ConvolutionLaw, AFusedEpilogueIsTheSameAsSeparateOps) {
  for_each_geometry("epilogue", 30, [](Drawn& drawn) {
    const SparseTensor x = drawn.features();
    const ConvWeight weight(drawn.weight_tensor());
    const SparseTensor plain = convolve(x, weight, drawn.spec);
    Epilogue epilogue;
    epilogue.bias = signed_tensor(drawn.random, {drawn.c_out});
    epilogue.scale = signed_tensor(drawn.random, {drawn.c_out});
    epilogue.shift = signed_tensor(drawn.random, {drawn.c_out});
    epilogue.residual = signed_tensor(drawn.random, plain.features.shape());
    epilogue.activation = Activation::kRelu;
    const Tensor biased = affine(plain.features, {.shift = epilogue.bias});
    const Tensor expected =
        affine(biased, {epilogue.scale, epilogue.shift, epilogue.residual, Activation::kRelu});
    expect_near(convolve(x, weight, drawn.spec, epilogue).features, expected, 1e-4);
  });
}

}  // namespace
}  // namespace aerogel::testing
