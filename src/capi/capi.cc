// The C API: opaque handles around the C++ values, and a catch-all in front of every call.
#include "aerogel/capi.h"

#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "aerogel/conv.h"
#include "aerogel/device.h"
#include "aerogel/error.h"
#include "aerogel/io.h"
#include "aerogel/nn.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/ops/voxelize.h"
#include "aerogel/sparse_tensor.h"
#include "aerogel/tensor.h"

struct aerogel_tensor {
  aerogel::Tensor value;  // contiguous
};
struct aerogel_coordinates {
  aerogel::Coordinates value;
};
struct aerogel_sparse {
  aerogel::SparseTensor value;
};
struct aerogel_weight {
  aerogel::ConvWeight value;
};
struct aerogel_network {
  std::unique_ptr<aerogel::nn::Module> module;
};

namespace {

using aerogel::InvalidArgument;

static_assert(static_cast<int>(aerogel::Activation::kRelu) == AEROGEL_RELU &&
              static_cast<int>(aerogel::Activation::kGeluTanh) == AEROGEL_GELU_TANH);
static_assert(AEROGEL_MAX_NDIM == aerogel::kMaxNdim && AEROGEL_MAX_RANK == aerogel::Dims::kCapacity);
static_assert(static_cast<int>(aerogel::DType::kBool) == AEROGEL_BOOL &&
              static_cast<int>(aerogel::DType::kI32) == AEROGEL_I32);

// A fixed buffer, since saying what failed must not fail itself.
thread_local std::array<char, 2048> last_error{};

aerogel_status failed(aerogel_status status, const char* message) noexcept {
  std::strncpy(last_error.data(), message, last_error.size() - 1);
  return status;
}

/// Runs `body`; every exception becomes its status and its sentence.
template <class Body>
aerogel_status guarded(const Body& body) noexcept {
  try {
    body();
    return AEROGEL_OK;
  } catch (const aerogel::InvalidArgument& error) {
    return failed(AEROGEL_INVALID_ARGUMENT, error.what());
  } catch (const aerogel::Unsupported& error) {
    return failed(AEROGEL_UNSUPPORTED, error.what());
  } catch (const aerogel::FormatError& error) {
    return failed(AEROGEL_FORMAT_ERROR, error.what());
  } catch (const aerogel::DeviceError& error) {
    return failed(AEROGEL_DEVICE_ERROR, error.what());
  } catch (const aerogel::OutOfMemory& error) {
    return failed(AEROGEL_OUT_OF_MEMORY, error.what());
  } catch (const std::bad_alloc&) {
    return failed(AEROGEL_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return failed(AEROGEL_INTERNAL_ERROR, error.what());
  } catch (...) {
    return failed(AEROGEL_INTERNAL_ERROR, "an exception that is not a std::exception");
  }
}

template <class T>
T& required(T* pointer, const char* name) {
  if (!pointer) throw InvalidArgument(fmt::format("[capi] {} must not be NULL", name));
  return *pointer;
}

/// As guarded, for calls that make a handle: *out is NULL unless the call succeeds.
template <class Handle, class Body>
aerogel_status making(Handle** out, const Body& body) noexcept {
  if (out) *out = nullptr;
  return guarded([&] {
    required(out, "out");
    *out = std::make_unique<Handle>(Handle{body()}).release();
  });
}

/// `value` checked to be one of `count` names of a C enum, which any int can be.
template <class Enum>
int checked(Enum value, int count, const char* name) {
  const int number = static_cast<int>(value);
  if (number < 0 || number >= count) {
    throw InvalidArgument(fmt::format("[capi] {} is {}, expected 0 to {}", name, number, count - 1));
  }
  return number;
}

/// The caller's struct with everything past its struct_size zeroed.
template <class Options>
Options complete(const Options* given) {
  Options options{};
  if (!given) return options;
  if (given->struct_size < sizeof(std::size_t) || given->struct_size > sizeof(Options)) {
    throw InvalidArgument(fmt::format("[capi] struct_size is {}, expected sizeof of the struct, at most {}",
                                      given->struct_size, sizeof(Options)));
  }
  std::memcpy(&options, given, given->struct_size);
  return options;
}

aerogel::ExecOptions exec_of(const aerogel_exec* given) {
  constexpr aerogel::Backend kBackends[] = {aerogel::Backend::kCpu, aerogel::Backend::kReference,
                                            aerogel::Backend::kCuda, aerogel::Backend::kVulkan};
  const aerogel_exec options = complete(given);
  aerogel::ExecOptions exec;
  exec.backend = kBackends[checked(options.backend, 4, "backend")];
  exec.threads = options.threads;
  if (options.kernel) exec.kernel = options.kernel;
  return exec;
}

/// One value per axis, or nothing where all are zero.
aerogel::Dims axes(const std::int64_t (&values)[AEROGEL_MAX_NDIM], int ndim) {
  bool any = false;
  for (const std::int64_t value : values) any = any || value != 0;
  return any ? aerogel::Dims(std::span(values, static_cast<std::size_t>(ndim))) : aerogel::Dims();
}

aerogel::ConvOptions geometry_of(const aerogel_geometry* given, int ndim) {
  const aerogel_geometry geometry = complete(given);
  return {.stride = axes(geometry.stride, ndim),
          .padding = axes(geometry.padding, ndim),
          .dilation = axes(geometry.dilation, ndim),
          .output_padding = axes(geometry.output_padding, ndim)};
}

aerogel::Tensor optional(const aerogel_tensor* tensor) { return tensor ? tensor->value : aerogel::Tensor(); }

aerogel::Epilogue epilogue_of(const aerogel_epilogue* given) {
  const aerogel_epilogue epilogue = complete(given);
  return {.bias = optional(epilogue.bias),
          .scale = optional(epilogue.scale),
          .shift = optional(epilogue.shift),
          .residual = optional(epilogue.residual),
          .activation = static_cast<aerogel::Activation>(
              checked(epilogue.activation, AEROGEL_GELU_TANH + 1, "activation")),
          .negative_slope =
              epilogue.negative_slope != 0 ? epilogue.negative_slope : aerogel::Epilogue().negative_slope};
}

aerogel::Dims shape_of(std::int32_t rank, const std::int64_t* shape, int most) {
  if (rank < 0 || rank > most) {
    throw InvalidArgument(fmt::format("[capi] {} axes given, expected 0 to {}", rank, most));
  }
  if (rank > 0) required(shape, "shape");
  return aerogel::Dims(std::span(shape, static_cast<std::size_t>(rank)));
}

aerogel::DType dtype_of(aerogel_dtype dtype) {
  return static_cast<aerogel::DType>(checked(dtype, AEROGEL_BOOL + 1, "dtype"));
}

aerogel::DenseLayout layout_of(std::int32_t channels_last) {
  return channels_last ? aerogel::DenseLayout::kChannelsLast : aerogel::DenseLayout::kChannelsFirst;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace

const char* aerogel_version(void) {
  static const std::string text(aerogel::version());
  return text.c_str();
}

const char* aerogel_status_name(aerogel_status status) {
  constexpr const char* kNames[] = {"ok",           "invalid argument", "unsupported",   "format error",
                                    "device error", "out of memory",    "internal error"};
  const int number = static_cast<int>(status);
  return number >= 0 && number <= AEROGEL_INTERNAL_ERROR ? kNames[number] : "unknown status";
}

const char* aerogel_last_error(void) { return last_error.data(); }

aerogel_status aerogel_tensor_create(aerogel_dtype dtype, int32_t rank, const int64_t* shape,
                                     const void* data, aerogel_tensor** out) {
  return making(out, [&] {
    const aerogel::Dims extents = shape_of(rank, shape, AEROGEL_MAX_RANK);
    aerogel::Tensor tensor = data ? aerogel::Tensor::empty(extents, dtype_of(dtype))
                                  : aerogel::Tensor::zeros(extents, dtype_of(dtype));
    if (data && tensor.nbytes() > 0)
      std::memcpy(tensor.raw(), data, static_cast<std::size_t>(tensor.nbytes()));
    return tensor;
  });
}

aerogel_status aerogel_tensor_wrap(aerogel_dtype dtype, int32_t rank, const int64_t* shape, void* data,
                                   void (*release)(void* context), void* context, aerogel_tensor** out) {
  if (out) *out = nullptr;
  return guarded([&] {
    required(out, "out");
    const aerogel::Dims extents = shape_of(rank, shape, AEROGEL_MAX_RANK);
    const aerogel::DType type = dtype_of(dtype);
    if (extents.product() > 0) required(static_cast<char*>(data), "data");
    // A shared_ptr whose making fails calls its deleter, so the callback is armed last.
    struct Owner {
      void (*release)(void*) = nullptr;
      void* context = nullptr;
      Owner() = default;
      Owner(const Owner&) = delete;
      Owner& operator=(const Owner&) = delete;
      ~Owner() {
        if (release) release(context);
      }
    };
    const auto owner = std::make_shared<Owner>();
    auto handle = std::make_unique<aerogel_tensor>();
    handle->value = aerogel::Tensor::wrap(data, extents, type, owner);
    owner->context = context;
    owner->release = release;
    *out = handle.release();
  });
}

void aerogel_tensor_destroy(aerogel_tensor* tensor) { delete tensor; }

aerogel_dtype aerogel_tensor_dtype(const aerogel_tensor* tensor) {
  return tensor ? static_cast<aerogel_dtype>(tensor->value.dtype()) : AEROGEL_F32;
}

int32_t aerogel_tensor_rank(const aerogel_tensor* tensor) {
  return tensor ? tensor->value.shape().size() : 0;
}

int64_t aerogel_tensor_size(const aerogel_tensor* tensor, int32_t axis) {
  return tensor && axis >= 0 && axis < tensor->value.shape().size() ? tensor->value.size(axis) : -1;
}

int64_t aerogel_tensor_nbytes(const aerogel_tensor* tensor) { return tensor ? tensor->value.nbytes() : 0; }

const void* aerogel_tensor_data(const aerogel_tensor* tensor) {
  return tensor ? tensor->value.raw() : nullptr;
}

aerogel_status aerogel_coordinates_create(const aerogel_tensor* indices, int32_t ndim,
                                          const int64_t* spatial_shape, int64_t batch_size,
                                          aerogel_coordinates** out) {
  return making(out, [&] {
    return aerogel::Coordinates::create(required(indices, "indices").value,
                                        shape_of(ndim, spatial_shape, AEROGEL_MAX_NDIM), batch_size);
  });
}

void aerogel_coordinates_destroy(aerogel_coordinates* coordinates) { delete coordinates; }

int64_t aerogel_coordinates_count(const aerogel_coordinates* coordinates) {
  return coordinates ? coordinates->value.size() : 0;
}

int32_t aerogel_coordinates_ndim(const aerogel_coordinates* coordinates) {
  return coordinates ? coordinates->value.ndim() : 0;
}

int64_t aerogel_coordinates_extent(const aerogel_coordinates* coordinates, int32_t axis) {
  return coordinates && axis >= 0 && axis < coordinates->value.ndim()
             ? coordinates->value.spatial_shape()[axis]
             : -1;
}

aerogel_status aerogel_coordinates_indices(const aerogel_coordinates* coordinates, aerogel_tensor** out) {
  return making(out, [&] { return required(coordinates, "coordinates").value.indices().contiguous(); });
}

aerogel_status aerogel_sparse_create(const aerogel_tensor* features, const aerogel_coordinates* coordinates,
                                     aerogel_sparse** out) {
  return making(out, [&] {
    const aerogel::SparseTensor sites{.features = {},
                                      .coordinates = required(coordinates, "coordinates").value};
    return sites.with_features(required(features, "features").value);
  });
}

void aerogel_sparse_destroy(aerogel_sparse* sparse) { delete sparse; }

aerogel_status aerogel_sparse_features(const aerogel_sparse* sparse, aerogel_tensor** out) {
  return making(out, [&] { return required(sparse, "sparse").value.features.contiguous(); });
}

aerogel_status aerogel_sparse_coordinates(const aerogel_sparse* sparse, aerogel_coordinates** out) {
  return making(out, [&] { return required(sparse, "sparse").value.coordinates; });
}

aerogel_status aerogel_weight_create(const aerogel_tensor* weight, aerogel_weight** out) {
  return making(out, [&] { return aerogel::ConvWeight(required(weight, "weight").value); });
}

void aerogel_weight_destroy(aerogel_weight* weight) { delete weight; }

aerogel_status aerogel_conv(aerogel_conv_kind kind, const aerogel_sparse* in, const aerogel_weight* weight,
                            const aerogel_geometry* geometry, const aerogel_epilogue* epilogue,
                            const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] {
    constexpr decltype(&aerogel::subm_conv) kVerbs[] = {&aerogel::subm_conv, &aerogel::sparse_conv,
                                                        &aerogel::transposed_conv};
    const aerogel::SparseTensor& from = required(in, "in").value;
    return kVerbs[checked(kind, 3, "kind")](from, required(weight, "weight").value,
                                            geometry_of(geometry, from.coordinates.ndim()),
                                            epilogue_of(epilogue), exec_of(exec));
  });
}

aerogel_status aerogel_inverse_conv(const aerogel_sparse* in, const aerogel_coordinates* onto,
                                    const aerogel_weight* weight, const aerogel_geometry* geometry,
                                    const aerogel_epilogue* epilogue, const aerogel_exec* exec,
                                    aerogel_sparse** out) {
  return making(out, [&] {
    const aerogel::Coordinates& sites = required(onto, "onto").value;
    return aerogel::inverse_conv(required(in, "in").value, sites, required(weight, "weight").value,
                                 geometry_of(geometry, sites.ndim()), epilogue_of(epilogue), exec_of(exec));
  });
}

aerogel_status aerogel_linear(const aerogel_tensor* in, const aerogel_weight* weight,
                              const aerogel_epilogue* epilogue, const aerogel_exec* exec,
                              aerogel_tensor** out) {
  return making(out, [&] {
    return aerogel::linear(required(in, "in").value, required(weight, "weight").value, epilogue_of(epilogue),
                           exec_of(exec));
  });
}

aerogel_status aerogel_pool(aerogel_pool_kind kind, const aerogel_sparse* in, const int64_t* kernel,
                            const aerogel_geometry* geometry, const aerogel_exec* exec,
                            aerogel_sparse** out) {
  return making(out, [&] {
    const aerogel::SparseTensor& from = required(in, "in").value;
    const int ndim = from.coordinates.ndim();
    const aerogel::Dims window(std::span(&required(kernel, "kernel"), static_cast<std::size_t>(ndim)));
    const aerogel::ConvOptions options = geometry_of(geometry, ndim);
    const int which = checked(kind, 3, "kind");
    if (which == AEROGEL_MAX_POOL) {
      return aerogel::max_pool(from, window, options, aerogel::PoolSites::kRegular,
                               aerogel::MaxIdentity::kNegativeInfinity, exec_of(exec));
    }
    const auto verb = which == AEROGEL_AVG_POOL ? &aerogel::avg_pool : &aerogel::sum_pool;
    return verb(from, window, options, aerogel::PoolSites::kRegular, exec_of(exec));
  });
}

aerogel_status aerogel_global_pool(aerogel_pool_kind kind, const aerogel_sparse* in, const aerogel_exec* exec,
                                   aerogel_tensor** out) {
  return making(out, [&] {
    constexpr decltype(&aerogel::global_max_pool) kVerbs[] = {
        &aerogel::global_max_pool, &aerogel::global_avg_pool, &aerogel::global_sum_pool};
    return kVerbs[checked(kind, 3, "kind")](required(in, "in").value, exec_of(exec));
  });
}

aerogel_status aerogel_relu(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] { return aerogel::relu(required(in, "in").value, exec_of(exec)); });
}

aerogel_status aerogel_leaky_relu(const aerogel_sparse* in, float negative_slope, const aerogel_exec* exec,
                                  aerogel_sparse** out) {
  return making(out,
                [&] { return aerogel::leaky_relu(required(in, "in").value, negative_slope, exec_of(exec)); });
}

aerogel_status aerogel_sigmoid(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] { return aerogel::sigmoid(required(in, "in").value, exec_of(exec)); });
}

aerogel_status aerogel_silu(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] { return aerogel::silu(required(in, "in").value, exec_of(exec)); });
}

aerogel_status aerogel_gelu_erf(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] { return aerogel::gelu_erf(required(in, "in").value, exec_of(exec)); });
}

aerogel_status aerogel_gelu_tanh(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] { return aerogel::gelu_tanh(required(in, "in").value, exec_of(exec)); });
}

aerogel_status aerogel_batch_norm(const aerogel_sparse* in, const aerogel_tensor* weight,
                                  const aerogel_tensor* bias, const aerogel_tensor* mean,
                                  const aerogel_tensor* var, double eps, const aerogel_exec* exec,
                                  aerogel_sparse** out) {
  return making(out, [&] {
    const aerogel::BatchNorm norm{.weight = required(weight, "weight").value,
                                  .bias = required(bias, "bias").value,
                                  .running_mean = required(mean, "mean").value,
                                  .running_var = required(var, "var").value,
                                  .eps = eps};
    return aerogel::batch_norm(required(in, "in").value, norm, exec_of(exec));
  });
}

aerogel_status aerogel_add(const aerogel_sparse* a, const aerogel_sparse* b, int32_t on_union,
                           const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] {
    const auto verb = on_union ? &aerogel::add_union : &aerogel::add;
    return verb(required(a, "a").value, required(b, "b").value, exec_of(exec));
  });
}

aerogel_status aerogel_concat(const aerogel_sparse* const* parts, int32_t count, const aerogel_exec* exec,
                              aerogel_sparse** out) {
  return making(out, [&] {
    if (count < 1) throw InvalidArgument(fmt::format("[capi] count is {}, expected at least 1", count));
    required(parts, "parts");
    std::vector<aerogel::SparseTensor> values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::int32_t i = 0; i < count; ++i) values.push_back(required(parts[i], "parts[i]").value);
    return aerogel::concat(values, exec_of(exec));
  });
}

aerogel_status aerogel_to_dense(const aerogel_sparse* in, int32_t channels_last, const aerogel_exec* exec,
                                aerogel_tensor** out) {
  return making(out, [&] {
    return aerogel::to_dense(required(in, "in").value, layout_of(channels_last), exec_of(exec));
  });
}

aerogel_status aerogel_from_dense(const aerogel_tensor* dense, int32_t channels_last,
                                  const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] {
    return aerogel::from_dense(required(dense, "dense").value, layout_of(channels_last), exec_of(exec));
  });
}

aerogel_status aerogel_voxelize_mean(const aerogel_tensor* points, const float lo[3], const float hi[3],
                                     const float size[3], const aerogel_exec* exec, aerogel_sparse** out,
                                     aerogel_tensor** point_voxel) {
  if (out) *out = nullptr;
  if (point_voxel) *point_voxel = nullptr;
  return guarded([&] {
    required(out, "out");
    aerogel::VoxelGrid grid;
    required(lo, "lo");
    required(hi, "hi");
    required(size, "size");
    for (int axis = 0; axis < 3; ++axis) {
      grid.lo[axis] = lo[axis];
      grid.hi[axis] = hi[axis];
      grid.size[axis] = size[axis];
    }
    const aerogel::MeanVoxels voxels =
        aerogel::voxelize_mean(required(points, "points").value, grid, exec_of(exec));
    auto sparse = std::make_unique<aerogel_sparse>(aerogel_sparse{voxels.voxels});
    if (point_voxel) *point_voxel = new aerogel_tensor{voxels.point_voxel};
    *out = sparse.release();
  });
}

aerogel_status aerogel_network_create(const char* name, const char* variant, aerogel_network** out) {
  return making(out,
                [&] { return aerogel::nn::make_network(&required(name, "name"), variant ? variant : ""); });
}

void aerogel_network_destroy(aerogel_network* network) { delete network; }

aerogel_status aerogel_network_load(aerogel_network* network, const char* path, const char* optional_prefix) {
  return guarded([&] {
    aerogel::nn::Module& module = *required(network, "network").module;
    aerogel::nn::load_state_dict(module, aerogel::io::read_safetensors(&required(path, "path")),
                                 optional_prefix ? optional_prefix : "");
  });
}

aerogel_status aerogel_network_init(aerogel_network* network, uint64_t seed) {
  return guarded([&] { aerogel::nn::init_weights(*required(network, "network").module, seed); });
}

aerogel_status aerogel_network_forward(const aerogel_network* network, const aerogel_sparse* in,
                                       const aerogel_exec* exec, aerogel_sparse** out) {
  return making(out, [&] {
    aerogel::nn::Context context;
    context.exec = exec_of(exec);
    return required(network, "network").module->forward(required(in, "in").value, context);
  });
}

aerogel_status aerogel_read_points(const char* path, const char* columns, aerogel_tensor** out) {
  return making(out, [&] {
    const std::vector<std::string> names = split(&required(columns, "columns"));
    const aerogel::io::PointTable table = aerogel::io::read_points(&required(path, "path"));
    std::vector<int> picked;
    for (const std::string& name : names) {
      picked.push_back(table.find(name));
      if (picked.back() < 0)
        throw InvalidArgument(fmt::format("[read_points] {} has no column \"{}\"", path, name));
    }
    aerogel::Tensor points =
        aerogel::Tensor::empty({table.rows(), static_cast<std::int64_t>(names.size())}, aerogel::DType::kF64);
    auto* value = points.mutable_data<double>();
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      for (const int column : picked) *value++ = table.columns[column][row];
    }
    return points;
  });
}
