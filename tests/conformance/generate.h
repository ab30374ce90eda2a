// Problems from strings: every conformance and property test builds its inputs here, so that the string alone
// reruns a failure: AEROGEL_PROBLEM='sparse_conv:…' build/release/tests/test_conformance
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aerogel/sparse_tensor.h"

#include "backend/kernel.h"
#include "conv/problem_string.h"
#include "plan/choose.h"

namespace aerogel::testing {

/// SplitMix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t integer(std::int64_t low, std::int64_t high);  // inclusive
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  float signed_unit() { return static_cast<float>(uniform() * 2 - 1); }

 private:
  std::uint64_t state_;
};

/// [shape], signed uniform in [-1, 1).
Tensor signed_tensor(Random& random, const Dims& shape, DType dtype = DType::kF32);

/// [shape] i8, uniform in [-128, 127].
Tensor integer_tensor(Random& random, const Dims& shape);

/// f32, f16 or bf16: as problem key and as the key says, f32 where there is none.
std::string random_dtype(Random& random);  ///< "dtype=bf16"
DType dtype_of(const ProblemString& problem);

/// What rounding `value` to a feature dtype may change.
double rounding_of(DType dtype, double value);

/// The elements of f32, f16, bf16 or i8.
std::vector<double> doubles(const Tensor& tensor);

/// About `count` distinct rows inside `shape`, clustered so that neighbours exist, in random order unless
/// sorted.
Coordinates random_sites(Random& random, const Dims& shape, std::int64_t batch, std::int64_t count,
                         bool sorted);

/// The sites that a problem string asks for: shape, batch, n, order=sorted|shuffled, seed.
Coordinates sites_of(const ProblemString& problem, Random& random);

/// kind, kernel, stride, padding, dilation[, output_padding] of a problem string.
KernelSpec spec_of(const ProblemString& problem);

/// The map of a problem's geometry on `in` by the reference row; of an inverse layer the swapped regular one.
std::shared_ptr<const KernelMap> reference_map(const Coordinates& in, const KernelSpec& spec);

/// Which kinds of layers a generated geometry may be of.
enum class Kinds : std::uint8_t { kAll, kForward };  // forward: all but inverse

/// A random geometry as problem keys, for sites in 1 to 4 dimensions, with odd and even kernels.
std::string random_geometry(Random& random, Kinds kinds = Kinds::kAll);

/// Runs `check(problem)` for the `fixed` problems and `count` generated ones, or only for AEROGEL_PROBLEM
/// when that names this op. The string is in the failure message.
void for_each_problem(const std::string& op, int count, const std::function<std::string(Random&)>& generate,
                      const std::function<void(const ProblemString&)>& check,
                      const std::vector<std::string>& fixed = {});

/// Geometries that chance gives seldom or never: 343 offsets in 3-D, and anisotropic kernels of every kind in
/// 4-D.
const std::vector<std::string>& rare_geometries();

/// Calls visit(row) for every row of this table in every backend but the reference.
template <class Args, class Visit>
void for_each_row(Table<Args> table, Visit&& visit) {
  for (const Backend backend : {Backend::kCpu, Backend::kCuda, Backend::kVulkan}) {
    for (const Kernel<Args>& row : tables_of(backend).*table) {
      SCOPED_TRACE(std::string(row.name));
      visit(row);
    }
  }
}

template <class Args>
const Kernel<Args>& reference_row(Table<Args> table) {
  return (tables_of(Backend::kReference).*table)[0];
}

/// Runs a row, with the workspace it asks for.
template <class Args>
void run_row(const Kernel<Args>& row, Args args, int threads) {
  args.threads = threads;
  ASSERT_EQ(row.supports(args), "");
  Tensor workspace;
  if (row.workspace_bytes) {
    workspace = Tensor::empty({row.workspace_bytes(args)}, DType::kU8);
    if constexpr (requires { args.workspace; }) args.workspace = workspace.raw();
  }
  row.run(args);
}

/// Same dtype, shape and bits.
void expect_same_bits(const Tensor& got, const Tensor& expected, const char* what);

/// |got − expected| ≤ bound per element, with NaN matching NaN; reports the worst.
void expect_within(const Tensor& got, const std::vector<double>& expected, const std::vector<double>& bound);

/// Filled with NaN (i8: 85), so that an element that a kernel forgets is seen.
Tensor poisoned(const Dims& shape, DType dtype = DType::kF32);

}  // namespace aerogel::testing
