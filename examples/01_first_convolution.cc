// Three sites, one submanifold convolution. The README shows this file.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <aerogel/aerogel.h>

int main() {
  using namespace aerogel;
  // Rows are (batch, z, y, x); features are one row per site.
  const std::vector<std::int32_t> sites = {0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2, 2};
  const std::vector<float> values = {1, 2, 3};
  const SparseTensor in = SparseTensor::create(Tensor::from<float>({3, 1}, values),
                                               Tensor::from<std::int32_t>({3, 4}, sites), {4, 4, 4}, 1);

  // Weights are [C_out, kz, ky, kx, C_in]. Bias and ReLU are fused behind the sums.
  const ConvWeight weight = Tensor::from<float>({1, 3, 3, 3, 1}, std::vector<float>(27, 1.0f));
  const Epilogue epilogue{.bias = Tensor::from<float>({1}, std::vector<float>{-0.5f}),
                          .activation = Activation::kRelu};
  const SparseTensor out = subm_conv(in, weight, {}, epilogue);

  for (std::int64_t i = 0; i < out.sites(); ++i) {
    std::printf("site %d: %g\n", static_cast<int>(i), static_cast<double>(out.features.data<float>()[i]));
  }
  return out.features.data<float>()[0] == 2.5f
             ? 0
             : 1;  // 1 + 2 − 0.5: its neighbour took part, the far site did not
}
