/* Aerogel for C, and for every language that can call C: opaque handles, a status from every call, no
 * exceptions.
 *
 * Conventions
 *   status     every call that can fail returns one; 0 is success. aerogel_last_error() then has the sentence
 * that says what was expected and what came, for the calling thread, until its next failing call. handles a
 * call writes a new handle to its last argument; each is released by the destroy of its type, in any order:
 * what still needs another object keeps it. Destroying NULL does nothing. On failure the argument is set to
 * NULL. options    a struct begins with struct_size = sizeof(it), so that later versions may append fields.
 * NULL takes the defaults. Zeroed fields mean "default" everywhere. threads    handles are immutable once
 * made (a network once its weights are set) and may be used from many threads. axes       coordinate rows are
 * (batch, then the spatial columns in the order of spatial_shape); weights are [C_out, k0, …, C_in]. What is
 * computed, exactly: docs/semantics.md.
 */
#ifndef AEROGEL_CAPI_H_
#define AEROGEL_CAPI_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* In C++ an enum has a fixed type, so that a number which is none of its names is refused rather than
 * undefined. */
#if defined(__cplusplus)
#define AEROGEL_ENUM : int32_t
#else
#define AEROGEL_ENUM
#endif

#define AEROGEL_MAX_NDIM 4 /* spatial dimensions */
#define AEROGEL_MAX_RANK 8 /* tensor axes */

typedef enum aerogel_status AEROGEL_ENUM {
  AEROGEL_OK = 0,
  AEROGEL_INVALID_ARGUMENT = 1, /* the caller's mistake: shapes, ranges, names, NULL */
  AEROGEL_UNSUPPORTED = 2,      /* a right request that no kernel here takes */
  AEROGEL_FORMAT_ERROR = 3,     /* bad bytes in a file */
  AEROGEL_DEVICE_ERROR = 4,     /* a driver failed, or a file could not be opened, read or written */
  AEROGEL_OUT_OF_MEMORY = 5,
  AEROGEL_INTERNAL_ERROR = 6 /* a fault of the library */
} aerogel_status;

typedef enum aerogel_dtype AEROGEL_ENUM {
  AEROGEL_F32 = 0,
  AEROGEL_F64,
  AEROGEL_F16,
  AEROGEL_BF16,
  AEROGEL_I8,
  AEROGEL_U8,
  AEROGEL_I16,
  AEROGEL_U16,
  AEROGEL_I32,
  AEROGEL_U32,
  AEROGEL_I64,
  AEROGEL_U64,
  AEROGEL_BOOL
} aerogel_dtype;

typedef enum aerogel_backend AEROGEL_ENUM {
  AEROGEL_CPU = 0,
  AEROGEL_REFERENCE = 1,
  AEROGEL_CUDA = 2,
  AEROGEL_VULKAN = 3
} aerogel_backend;
typedef enum aerogel_activation AEROGEL_ENUM {
  AEROGEL_NO_ACTIVATION = 0,
  AEROGEL_RELU = 1,
  AEROGEL_LEAKY_RELU = 2,
  AEROGEL_SIGMOID = 3,
  AEROGEL_SILU = 4,     /* x · sigmoid(x) */
  AEROGEL_GELU_ERF = 5, /* x · (1 + erf(x / √2)) / 2 */
  AEROGEL_GELU_TANH = 6 /* x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2 */
} aerogel_activation;
typedef enum aerogel_conv_kind AEROGEL_ENUM {
  AEROGEL_SUBMANIFOLD = 0,
  AEROGEL_REGULAR = 1,
  AEROGEL_TRANSPOSED = 2
} aerogel_conv_kind;
typedef enum aerogel_pool_kind AEROGEL_ENUM {
  AEROGEL_MAX_POOL = 0,
  AEROGEL_AVG_POOL = 1,
  AEROGEL_SUM_POOL = 2
} aerogel_pool_kind;

typedef struct aerogel_tensor aerogel_tensor;           /* a dense array */
typedef struct aerogel_coordinates aerogel_coordinates; /* an immutable set of sites, with its kernel maps */
typedef struct aerogel_sparse aerogel_sparse;           /* features on sites */
typedef struct aerogel_weight aerogel_weight;           /* convolution weights and their packed forms */
typedef struct aerogel_network aerogel_network;         /* a network and its weights */

/* How a call is to be run. */
typedef struct aerogel_exec {
  size_t struct_size;
  aerogel_backend backend;
  int32_t threads;    /* 0 = all cores; results are the same bits for any number */
  const char* kernel; /* force the kernel of this name; NULL = the planner chooses */
} aerogel_exec;

const char* aerogel_version(void);                      /* "0.1.0" */
const char* aerogel_status_name(aerogel_status status); /* "invalid argument", … */
const char* aerogel_last_error(void);                   /* "" if no call of this thread failed yet */

/* --- tensors --- */

/* A contiguous tensor with a copy of `data` (NULL: zeros), shape[rank]. */
aerogel_status aerogel_tensor_create(aerogel_dtype dtype, int32_t rank, const int64_t* shape,
                                     const void* data, aerogel_tensor** out);
/* A view of the caller's memory, which must stay valid until `release(context)` is called (NULL: until every
 * handle that may hold it is destroyed). If the call itself fails, release is not called. */
aerogel_status aerogel_tensor_wrap(aerogel_dtype dtype, int32_t rank, const int64_t* shape, void* data,
                                   void (*release)(void* context), void* context, aerogel_tensor** out);
void aerogel_tensor_destroy(aerogel_tensor* tensor);
aerogel_dtype aerogel_tensor_dtype(const aerogel_tensor* tensor);
int32_t aerogel_tensor_rank(const aerogel_tensor* tensor);
int64_t aerogel_tensor_size(const aerogel_tensor* tensor, int32_t axis); /* -1 for an axis it does not have */
int64_t aerogel_tensor_nbytes(const aerogel_tensor* tensor);
const void* aerogel_tensor_data(const aerogel_tensor* tensor); /* contiguous, last axis fastest */

/* --- sites and sparse tensors --- */

/* indices [N, 1 + ndim] i32, distinct rows in any order; spatial_shape[ndim]. */
aerogel_status aerogel_coordinates_create(const aerogel_tensor* indices, int32_t ndim,
                                          const int64_t* spatial_shape, int64_t batch_size,
                                          aerogel_coordinates** out);
void aerogel_coordinates_destroy(aerogel_coordinates* coordinates);
int64_t aerogel_coordinates_count(const aerogel_coordinates* coordinates);
int32_t aerogel_coordinates_ndim(const aerogel_coordinates* coordinates);
int64_t aerogel_coordinates_extent(const aerogel_coordinates* coordinates,
                                   int32_t axis); /* -1: no such axis */
aerogel_status aerogel_coordinates_indices(const aerogel_coordinates* coordinates, aerogel_tensor** out);

/* features [N, C], row i on site i. */
aerogel_status aerogel_sparse_create(const aerogel_tensor* features, const aerogel_coordinates* coordinates,
                                     aerogel_sparse** out);
void aerogel_sparse_destroy(aerogel_sparse* sparse);
aerogel_status aerogel_sparse_features(const aerogel_sparse* sparse, aerogel_tensor** out);
aerogel_status aerogel_sparse_coordinates(const aerogel_sparse* sparse, aerogel_coordinates** out);

/* --- layers --- */

/* weight [C_out, k0, …, C_in], or [C_out, C_in] for a linear layer. */
aerogel_status aerogel_weight_create(const aerogel_tensor* weight, aerogel_weight** out);
void aerogel_weight_destroy(aerogel_weight* weight);

/* Geometry: all zeros take the default of an axis (stride 1, padding 0 or centred, dilation 1). */
typedef struct aerogel_geometry {
  size_t struct_size;
  int64_t stride[AEROGEL_MAX_NDIM];
  int64_t padding[AEROGEL_MAX_NDIM];
  int64_t dilation[AEROGEL_MAX_NDIM];
  int64_t output_padding[AEROGEL_MAX_NDIM]; /* transposed only */
} aerogel_geometry;

/* Fused behind the sums: activation((sum + bias) · scale + shift + residual); NULL leaves a term out. */
typedef struct aerogel_epilogue {
  size_t struct_size;
  const aerogel_tensor* bias;     /* [C_out] */
  const aerogel_tensor* scale;    /* [C_out] */
  const aerogel_tensor* shift;    /* [C_out] */
  const aerogel_tensor* residual; /* [N_out, C_out] */
  aerogel_activation activation;
  float negative_slope; /* of AEROGEL_LEAKY_RELU; 0 = 0.01 */
} aerogel_epilogue;

aerogel_status aerogel_conv(aerogel_conv_kind kind, const aerogel_sparse* in, const aerogel_weight* weight,
                            const aerogel_geometry* geometry, const aerogel_epilogue* epilogue,
                            const aerogel_exec* exec, aerogel_sparse** out);
/* Back onto the sites `onto` that a regular convolution or pool of this geometry read. */
aerogel_status aerogel_inverse_conv(const aerogel_sparse* in, const aerogel_coordinates* onto,
                                    const aerogel_weight* weight, const aerogel_geometry* geometry,
                                    const aerogel_epilogue* epilogue, const aerogel_exec* exec,
                                    aerogel_sparse** out);
/* in [N, C_in] → [N, C_out]. */
aerogel_status aerogel_linear(const aerogel_tensor* in, const aerogel_weight* weight,
                              const aerogel_epilogue* epilogue, const aerogel_exec* exec,
                              aerogel_tensor** out);

/* kernel[ndim]; over the active sites of each window, or (global) of each batch item: [B, C]. */
aerogel_status aerogel_pool(aerogel_pool_kind kind, const aerogel_sparse* in, const int64_t* kernel,
                            const aerogel_geometry* geometry, const aerogel_exec* exec, aerogel_sparse** out);
aerogel_status aerogel_global_pool(aerogel_pool_kind kind, const aerogel_sparse* in, const aerogel_exec* exec,
                                   aerogel_tensor** out);

/* One activation of every feature; the sites stay. */
aerogel_status aerogel_relu(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out);
aerogel_status aerogel_leaky_relu(const aerogel_sparse* in, float negative_slope, const aerogel_exec* exec,
                                  aerogel_sparse** out);
aerogel_status aerogel_sigmoid(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out);
aerogel_status aerogel_silu(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out);
aerogel_status aerogel_gelu_erf(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out);
aerogel_status aerogel_gelu_tanh(const aerogel_sparse* in, const aerogel_exec* exec, aerogel_sparse** out);
/* Each parameter [C]; (x − mean) / √(var + eps) · weight + bias. */
aerogel_status aerogel_batch_norm(const aerogel_sparse* in, const aerogel_tensor* weight,
                                  const aerogel_tensor* bias, const aerogel_tensor* mean,
                                  const aerogel_tensor* var, double eps, const aerogel_exec* exec,
                                  aerogel_sparse** out);
/* On one coordinate set, or (on_union) over the union of the sites, rows sorted. */
aerogel_status aerogel_add(const aerogel_sparse* a, const aerogel_sparse* b, int32_t on_union,
                           const aerogel_exec* exec, aerogel_sparse** out);
aerogel_status aerogel_concat(const aerogel_sparse* const* parts, int32_t count, const aerogel_exec* exec,
                              aerogel_sparse** out);
/* [B, C, D..] (channels_last 0) or [B, D.., C]. */
aerogel_status aerogel_to_dense(const aerogel_sparse* in, int32_t channels_last, const aerogel_exec* exec,
                                aerogel_tensor** out);
aerogel_status aerogel_from_dense(const aerogel_tensor* dense, int32_t channels_last,
                                  const aerogel_exec* exec, aerogel_sparse** out);
/* points [P, F] f32, x y z first; the mean of each voxel on sites (0, z, y, x). point_voxel [P] i64 may be
 * NULL. */
aerogel_status aerogel_voxelize_mean(const aerogel_tensor* points, const float lo[3], const float hi[3],
                                     const float size[3], const aerogel_exec* exec, aerogel_sparse** out,
                                     aerogel_tensor** point_voxel);

/* --- networks and files --- */

/* A network by name ("centerpoint") and variant (NULL or "": the first), without weights. */
aerogel_status aerogel_network_create(const char* name, const char* variant, aerogel_network** out);
void aerogel_network_destroy(aerogel_network* network);
/* Strict: a missing, unexpected or misshapen tensor of the .safetensors file fails the call and loads
 * nothing. */
aerogel_status aerogel_network_load(aerogel_network* network, const char* path, const char* optional_prefix);
aerogel_status aerogel_network_init(aerogel_network* network, uint64_t seed); /* untrained weights */
aerogel_status aerogel_network_forward(const aerogel_network* network, const aerogel_sparse* in,
                                       const aerogel_exec* exec, aerogel_sparse** out);

/* Points of a file as [P, columns] f64. columns: comma-separated names ("x,y,z,intensity") to be taken by
 * name. */
aerogel_status aerogel_read_points(const char* path, const char* columns, aerogel_tensor** out);

#if defined(__cplusplus)
} /* extern "C" */
#endif

#endif /* AEROGEL_CAPI_H_ */
