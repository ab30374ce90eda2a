#include <cstdint>
#include <cstdio>
#include <vector>

#include <aerogel/aerogel.h>

int main() {
  using aerogel::Tensor;
  const std::vector<std::int32_t> sites{0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2, 2};
  const std::vector<float> values{1, 2, 3};
  const std::vector<float> ones(27, 1.0f);
  const auto in = aerogel::SparseTensor::create(Tensor::from<float>({3, 1}, values),
                                                Tensor::from<std::int32_t>({3, 4}, sites), {4, 4, 4}, 1);
  const auto out = aerogel::subm_conv(in, Tensor::from<float>({1, 3, 3, 3, 1}, ones));
  std::printf("%d sites, first feature %g\n", static_cast<int>(out.sites()),
              static_cast<double>(out.features.data<float>()[0]));
}
