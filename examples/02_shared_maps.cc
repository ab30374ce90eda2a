// Maps are built once per coordinate set and geometry, and shared with nobody naming a key. explain() tells
// which kernel a problem gets, and why not the others.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <aerogel/aerogel.h>

int main() {
  using namespace aerogel;
  std::vector<std::int32_t> sites;
  for (std::int32_t i = 0; i < 500; ++i) sites.insert(sites.end(), {0, i / 100, i / 10 % 10, i % 10});
  const Coordinates coordinates =
      Coordinates::create(Tensor::from<std::int32_t>({500, 4}, sites), {5, 10, 10}, 1);
  SparseTensor x{Tensor::zeros({500, 8}, DType::kF32), coordinates};

  const ConvWeight weight = Tensor::zeros({8, 3, 3, 3, 8}, DType::kF32);
  for (int layer = 0; layer < 4; ++layer) x = subm_conv(x, weight);
  const ConvOptions halve{.stride = {2, 2, 2}, .padding = {1, 1, 1}};
  const SparseTensor coarse = sparse_conv(x, weight, halve);
  const SparseTensor fine =
      inverse_conv(coarse, coordinates, weight, halve);  // back onto the very same sites

  const MapStats stats = coordinates.map_stats();
  std::printf("4 submanifold layers, 1 strided and its inverse: %d maps built, %d found again\n",
              static_cast<int>(stats.builds), static_cast<int>(stats.reuses));

  ConvProblem problem;
  problem.spec = KernelSpec::make(ConvKind::kSubmanifold, {3, 3, 3});
  problem.n_in = problem.n_out = 500;
  problem.pairs = build_kernel_map(coordinates, problem.spec)->pairs();
  problem.c_in = problem.c_out = 8;
  std::printf("%s", plan_sparse_conv(problem).explain().c_str());
  return fine.coordinates == coordinates && stats.builds == 3 ? 0 : 1;
}
