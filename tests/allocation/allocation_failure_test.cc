// Every allocation of a run fails once: one typed error, nothing leaked, and the same objects work
// afterwards.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>

#include "aerogel/aerogel.h"

namespace {

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> until_failure{-1};  // counts down; the allocation that finds 0 fails. −1: none does
std::atomic<bool> failed{false};

void* allocate(std::size_t size, std::size_t alignment) {
  if (until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size ? size : 1)
                     : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  ++live;
  return memory;
}

void release(void* memory) noexcept {
  if (!memory) return;
  --live;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new[](std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size, 0);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  try {
    return allocate(size, static_cast<std::size_t>(alignment));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace {

using namespace aerogel;

int failures = 0;

void fail(const char* scenario, std::int64_t at, const std::string& what) {
  std::printf("%s, allocation %lld: %s\n", scenario, static_cast<long long>(at), what.c_str());
  ++failures;
}

/// Runs `body` with its allocation 0, 1, 2 … failing, until a run has none left to fail. `body` returns a
/// number that must be the same whenever it succeeds.
void fail_every_allocation(const char* scenario, const std::function<double()>& body) {
  const double expected = body();  // fills what is made once per process
  std::int64_t at = 0;
  for (bool more = true; more; ++at) {
    const std::int64_t before = live;
    failed = false;
    until_failure = at;
    std::string outcome;  // short: no allocation of its own
    bool typed = true;
    double result = expected;
    try {
      result = body();
      until_failure = -1;
    } catch (const OutOfMemory&) {
      until_failure = -1;
    } catch (const std::bad_alloc&) {
      until_failure = -1;
    } catch (const std::exception& error) {
      until_failure = -1;
      typed = false;
      outcome = error.what();
    }
    more = failed;
    if (!typed) fail(scenario, at, "not an out-of-memory error: " + outcome);
    if (result != expected) fail(scenario, at, "succeeded with another result");
    if (outcome.empty() && live != before)
      fail(scenario, at, std::to_string(live - before) + " allocations leaked");
    if (body() != expected) fail(scenario, at, "another result afterwards");
    if (failures > 20) return;
  }
  std::printf("%s: each of %lld allocations failed once\n", scenario, static_cast<long long>(at - 1));
}

double sum_of(const Tensor& tensor) {
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) sum += static_cast<double>(tensor.data<float>()[i]);
  return sum;
}

std::vector<float> points() {
  std::vector<float> values;
  std::uint64_t seed = 1;
  for (int i = 0; i < 120 * 6; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<float>(seed >> 40) * 0x1p-24F);
  }
  return values;
}

}  // namespace

int main() {
  const std::vector<float> values = points();
  const auto network = nn::make_network("unet3d");
  nn::init_weights(*network, 1);
  const auto run = [&](int threads) {
    ExecOptions exec;
    exec.threads = threads;
    const VoxelGrid grid{{0, 0, 0}, {1, 1, 1}, {0.1F, 0.1F, 0.1F}};
    const Tensor cloud = Tensor::from<float>({120, 6}, values);
    const SparseTensor in = voxelize_mean(cloud, grid, exec).voxels;
    nn::Context context;
    context.exec = exec;
    return sum_of(network->forward(in, context).features);
  };
  fail_every_allocation("points to features, 1 thread", [&] { return run(1); });
  fail_every_allocation("points to features, 2 threads", [&] { return run(2); });
  fail_every_allocation("pools, sums and dense", [&] {
    const std::vector<std::int32_t> rows = {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2};
    const SparseTensor in =
        SparseTensor::create(Tensor::from<float>({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}),
                             Tensor::from<std::int32_t>({3, 4}, rows), {3, 3, 3}, 1);
    const SparseTensor pooled = max_pool(in, {2, 2, 2}, {.stride = {2, 2, 2}});
    return sum_of(pooled.features) + sum_of(to_dense(add_union(in, relu(in)))) + sum_of(global_avg_pool(in));
  });
  fail_every_allocation("building and loading a network", [&] {
    const auto made = nn::make_network("unet3d");
    nn::load_state_dict(*made, nn::state_dict(*network));
    return static_cast<double>(nn::state_dict(*made).size());
  });
  std::printf(failures ? "%d failures\n" : "allocation failures: ok\n", failures);
  return failures != 0;
}
