/* The C API from C: values worked out by hand, every status, ownership, and threads' own errors. */
#include "aerogel/capi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                                       \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      printf("%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition, aerogel_last_error()); \
      ++failures;                                                                               \
    }                                                                                           \
  } while (0)
#define EXPECT_OK(call) EXPECT((call) == AEROGEL_OK)
/* The status, and a word that the sentence must have. */
#define EXPECT_FAILS(status, word, call) \
  EXPECT((call) == (status) && strstr(aerogel_last_error(), (word)) != NULL)

static aerogel_tensor* tensor(aerogel_dtype dtype, int32_t rank, const int64_t* shape, const void* data) {
  aerogel_tensor* out = NULL;
  EXPECT_OK(aerogel_tensor_create(dtype, rank, shape, data, &out));
  return out;
}

static aerogel_tensor* vector_of(int64_t count, const float* data) {
  return tensor(AEROGEL_F32, 1, &count, data);
}

/* Three sites in a line of five, features 1, 2, 3. */
static aerogel_coordinates* line(void) {
  const int32_t rows[] = {0, 0, 0, 1, 0, 3};
  const int64_t shape[] = {3, 2}, extent[] = {5};
  aerogel_tensor* indices = tensor(AEROGEL_I32, 2, shape, rows);
  aerogel_coordinates* out = NULL;
  EXPECT_OK(aerogel_coordinates_create(indices, 1, extent, 1, &out));
  aerogel_tensor_destroy(indices);
  return out;
}

static aerogel_sparse* ramp(void) {
  const float values[] = {1, 2, 3};
  const int64_t shape[] = {3, 1};
  aerogel_tensor* features = tensor(AEROGEL_F32, 2, shape, values);
  aerogel_coordinates* sites = line();
  aerogel_sparse* out = NULL;
  EXPECT_OK(aerogel_sparse_create(features, sites, &out));
  aerogel_tensor_destroy(features);
  aerogel_coordinates_destroy(sites);
  return out;
}

/* [1, 3, 1]: 10 · left + 100 · centre + 1000 · right. */
static aerogel_weight* weight(void) {
  const float taps[] = {10, 100, 1000};
  const int64_t shape[] = {1, 3, 1};
  aerogel_tensor* values = tensor(AEROGEL_F32, 3, shape, taps);
  aerogel_weight* out = NULL;
  EXPECT_OK(aerogel_weight_create(values, &out));
  aerogel_tensor_destroy(values);
  return out;
}

static void expect_floats(const aerogel_tensor* got, int count, const float* expected, int at) {
  const float* values = (const float*)aerogel_tensor_data(got);
  int i;
  if (aerogel_tensor_nbytes(got) != (int64_t)(count * sizeof(float))) {
    printf("%s:%d: %d bytes, expected %d floats\n", __FILE__, at, (int)aerogel_tensor_nbytes(got), count);
    ++failures;
    return;
  }
  for (i = 0; i < count; ++i) {
    if (!(fabs((double)values[i] - (double)expected[i]) < 1e-4)) {
      printf("%s:%d: value %d is %g, expected %g\n", __FILE__, at, i, (double)values[i], (double)expected[i]);
      ++failures;
    }
  }
}
#define EXPECT_FLOATS(got, count, expected) expect_floats(got, count, expected, __LINE__)

static void expect_features(const aerogel_sparse* got, int count, const float* expected, int at) {
  aerogel_tensor* features = NULL;
  EXPECT_OK(aerogel_sparse_features(got, &features));
  expect_floats(features, count, expected, at);
  aerogel_tensor_destroy(features);
}
#define EXPECT_FEATURES(got, count, expected) expect_features(got, count, expected, __LINE__)

static void test_tensors(void) {
  const int64_t shape[] = {2, 3}, huge[] = {INT64_MAX, 4};
  const int16_t data[] = {1, 2, 3, 4, 5, 6};
  aerogel_tensor* t = tensor(AEROGEL_I16, 2, shape, data);
  EXPECT(aerogel_tensor_dtype(t) == AEROGEL_I16);
  EXPECT(aerogel_tensor_rank(t) == 2 && aerogel_tensor_size(t, 0) == 2 && aerogel_tensor_size(t, 1) == 3);
  EXPECT(aerogel_tensor_size(t, 2) == -1 && aerogel_tensor_size(t, -1) == -1);
  EXPECT(aerogel_tensor_nbytes(t) == 12 && memcmp(aerogel_tensor_data(t), data, 12) == 0);
  aerogel_tensor_destroy(t);
  t = tensor(AEROGEL_F64, 2, shape, NULL);
  EXPECT(((const double*)aerogel_tensor_data(t))[5] == 0.0);
  aerogel_tensor_destroy(t);
  aerogel_tensor_destroy(NULL);
  t = (aerogel_tensor*)&failures; /* must come back as NULL */
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "dtype",
               aerogel_tensor_create((aerogel_dtype)99, 2, shape, data, &t));
  EXPECT(t == NULL);
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "axes", aerogel_tensor_create(AEROGEL_F32, 9, shape, data, &t));
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "shape", aerogel_tensor_create(AEROGEL_F32, 1, NULL, data, &t));
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "out", aerogel_tensor_create(AEROGEL_F32, 2, shape, data, NULL));
  EXPECT(aerogel_tensor_create(AEROGEL_F32, 2, huge, NULL, &t) == AEROGEL_INVALID_ARGUMENT);
}

static void count_release(void* context) { ++*(int*)context; }

static void test_wrapped_memory_is_released_with_its_last_handle(void) {
  float values[] = {1, 2, 3};
  const int64_t shape[] = {3, 1};
  int released = 0;
  aerogel_tensor* t = NULL;
  aerogel_coordinates* sites = line();
  aerogel_sparse* sparse = NULL;
  EXPECT_OK(aerogel_tensor_wrap(AEROGEL_F32, 2, shape, values, count_release, &released, &t));
  EXPECT(aerogel_tensor_data(t) == values);
  EXPECT_OK(aerogel_sparse_create(t, sites, &sparse));
  aerogel_tensor_destroy(t);
  EXPECT(released == 0); /* the sparse tensor still holds it */
  aerogel_sparse_destroy(sparse);
  EXPECT(released == 1);
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "data",
               aerogel_tensor_wrap(AEROGEL_F32, 2, shape, NULL, count_release, &released, &t));
  EXPECT(released == 1);
  aerogel_coordinates_destroy(sites);
}

static void test_convolutions(void) {
  /* sites 0, 1, 3: site 0 has a right neighbour, site 1 a left one, site 3 none. */
  const float subm[] = {100 + 2000, 10 + 200, 300};
  /* regular, stride 2, padding 1: outputs 0, 1, 2 read fine -1..1, 1..3, 3..5. */
  const float regular[] = {100 + 2000, 20 + 3000, 30};
  const float biased[] = {0, 0, 0}; /* relu(x - 5000) */
  const float minus = -5000;
  aerogel_sparse *in = ramp(), *out = NULL, *coarse = NULL;
  aerogel_weight* w = weight();
  aerogel_tensor* bias = vector_of(1, &minus);
  aerogel_coordinates* sites = NULL;
  aerogel_geometry geometry;
  aerogel_epilogue epilogue;
  aerogel_exec exec;
  memset(&geometry, 0, sizeof geometry);
  geometry.struct_size = sizeof geometry;
  memset(&epilogue, 0, sizeof epilogue);
  epilogue.struct_size = sizeof epilogue;
  memset(&exec, 0, sizeof exec);
  exec.struct_size = sizeof exec;

  EXPECT_OK(aerogel_conv(AEROGEL_SUBMANIFOLD, in, w, NULL, NULL, NULL, &out));
  EXPECT_FEATURES(out, 3, subm);
  aerogel_sparse_destroy(out);

  exec.backend = AEROGEL_REFERENCE;
  exec.threads = 2;
  epilogue.bias = bias;
  epilogue.activation = AEROGEL_RELU;
  EXPECT_OK(aerogel_conv(AEROGEL_SUBMANIFOLD, in, w, &geometry, &epilogue, &exec, &out));
  EXPECT_FEATURES(out, 3, biased);
  aerogel_sparse_destroy(out);

  geometry.stride[0] = 2;
  geometry.padding[0] = 1;
  EXPECT_OK(aerogel_conv(AEROGEL_REGULAR, in, w, &geometry, NULL, NULL, &coarse));
  EXPECT_FEATURES(coarse, 3, regular);
  EXPECT_OK(aerogel_sparse_coordinates(in, &sites));
  EXPECT(aerogel_coordinates_count(sites) == 3 && aerogel_coordinates_ndim(sites) == 1);
  EXPECT(aerogel_coordinates_extent(sites, 0) == 5 && aerogel_coordinates_extent(sites, 1) == -1);
  EXPECT_OK(aerogel_inverse_conv(coarse, sites, w, &geometry, NULL, NULL, &out));
  {
    /* site 0 = 100·c0, site 1 = 1000·c0 + 10·c1, site 3 = 1000·c1 + 10·c2 */
    const float inverse[] = {210000, 2100000 + 30200, 3020000 + 300};
    EXPECT_FEATURES(out, 3, inverse);
  }
  aerogel_sparse_destroy(out);

  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "kind",
               aerogel_conv((aerogel_conv_kind)7, in, w, NULL, NULL, NULL, &out));
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "in must not be NULL",
               aerogel_conv(AEROGEL_REGULAR, NULL, w, NULL, NULL, NULL, &out));
  geometry.struct_size = 1;
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "struct_size",
               aerogel_conv(AEROGEL_REGULAR, in, w, &geometry, NULL, NULL, &out));
  exec.kernel = "cpu/no/such/kernel";
  EXPECT(aerogel_conv(AEROGEL_SUBMANIFOLD, in, w, NULL, NULL, &exec, &out) != AEROGEL_OK);
  exec.kernel = NULL;
  exec.backend = AEROGEL_CUDA;
  EXPECT(aerogel_conv(AEROGEL_SUBMANIFOLD, in, w, NULL, NULL, &exec, &out) == AEROGEL_UNSUPPORTED);

  aerogel_coordinates_destroy(sites);
  aerogel_sparse_destroy(coarse);
  aerogel_tensor_destroy(bias);
  aerogel_weight_destroy(w);
  aerogel_sparse_destroy(in);
}

static void test_other_layers(void) {
  const float zero = 0, one = 1, two = 2;
  const int64_t window[] = {2}, matrix[] = {2, 1};
  const float rows[] = {3, -1}, twice[] = {2, 4, 6}, sums[] = {6}, maxima[] = {2, 3};
  const float products[] = {3, -1, 6, -2, 9, -3}, dense[] = {1, 2, 0, 3, 0};
  aerogel_sparse *in = ramp(), *out = NULL, *parts[2];
  aerogel_tensor *t = NULL, *features = NULL;
  aerogel_weight* w = NULL;
  aerogel_geometry geometry;
  memset(&geometry, 0, sizeof geometry);
  geometry.struct_size = sizeof geometry;
  geometry.stride[0] = 2;

  EXPECT_OK(aerogel_pool(AEROGEL_MAX_POOL, in, window, &geometry, NULL,
                         &out)); /* extent 5 → 2: windows {0,1}, {2,3} */
  EXPECT_FEATURES(out, 2, maxima);
  aerogel_sparse_destroy(out);
  EXPECT_OK(aerogel_global_pool(AEROGEL_SUM_POOL, in, NULL, &t));
  EXPECT_FLOATS(t, 1, sums);
  aerogel_tensor_destroy(t);

  EXPECT_OK(aerogel_add(in, in, 0, NULL, &out));
  EXPECT_FEATURES(out, 3, twice);
  aerogel_sparse_destroy(out);
  EXPECT_OK(aerogel_add(in, in, 1, NULL, &out));
  EXPECT_FEATURES(out, 3, twice);
  aerogel_sparse_destroy(out);
  parts[0] = in;
  parts[1] = in;
  EXPECT_OK(aerogel_concat((const aerogel_sparse* const*)parts, 2, NULL, &out));
  {
    const float pairs[] = {1, 1, 2, 2, 3, 3};
    EXPECT_FEATURES(out, 6, pairs);
  }
  aerogel_sparse_destroy(out);
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "count", aerogel_concat(NULL, 0, NULL, &out));

  EXPECT_OK(aerogel_relu(in, NULL, &out));
  aerogel_sparse_destroy(out);
  {
    /* (x - 0) / sqrt(1 + 0) · 2 + 0 */
    aerogel_tensor *z = vector_of(1, &zero), *o = vector_of(1, &one), *s = vector_of(1, &two);
    EXPECT_OK(aerogel_batch_norm(in, s, z, z, o, 0.0, NULL, &out));
    EXPECT_FEATURES(out, 3, twice);
    aerogel_sparse_destroy(out);
    aerogel_tensor_destroy(z);
    aerogel_tensor_destroy(o);
    aerogel_tensor_destroy(s);
  }

  t = tensor(AEROGEL_F32, 2, matrix, rows);
  EXPECT_OK(aerogel_weight_create(t, &w));
  aerogel_tensor_destroy(t);
  EXPECT_OK(aerogel_sparse_features(in, &features));
  EXPECT_OK(aerogel_linear(features, w, NULL, NULL, &t));
  EXPECT_FLOATS(t, 6, products);
  aerogel_tensor_destroy(t);
  aerogel_tensor_destroy(features);
  aerogel_weight_destroy(w);

  EXPECT_OK(aerogel_to_dense(in, 1, NULL, &t));
  EXPECT_FLOATS(t, 5, dense);
  EXPECT_OK(aerogel_from_dense(t, 1, NULL, &out));
  {
    const float again[] = {1, 2, 3};
    EXPECT_FEATURES(out, 3, again);
  }
  aerogel_sparse_destroy(out);
  aerogel_tensor_destroy(t);
  aerogel_sparse_destroy(in);
}

/* The features -2, 0 and 1.5, each by itself and behind a convolution whose only tap is the site's own. */
static void test_activations(void) {
  typedef aerogel_status (*verb)(const aerogel_sparse*, const aerogel_exec*, aerogel_sparse**);
  const verb verbs[] = {
      NULL, aerogel_relu, NULL, aerogel_sigmoid, aerogel_silu, aerogel_gelu_erf, aerogel_gelu_tanh};
  const float values[] = {-2.0f, 0.0f, 1.5f}, taps[] = {0, 1, 0};
  const float expected[][3] = {{-2, 0, 1.5f},
                               {0, 0, 1.5f},
                               {-0.5f, 0, 1.5f},
                               {0.1192029f, 0.5f, 0.8175745f},
                               {-0.2384058f, 0, 1.226362f},
                               {-0.04550026f, 0, 1.399789f},
                               {-0.04540231f, 0, 1.399572f}};
  const int64_t shape[] = {3, 1}, kernel[] = {1, 3, 1};
  aerogel_tensor *features = tensor(AEROGEL_F32, 2, shape, values), *t = tensor(AEROGEL_F32, 3, kernel, taps);
  aerogel_coordinates* sites = line();
  aerogel_sparse *in = NULL, *out = NULL;
  aerogel_weight* w = NULL;
  aerogel_epilogue epilogue;
  int which;
  memset(&epilogue, 0, sizeof epilogue);
  epilogue.struct_size = sizeof epilogue;
  EXPECT_OK(aerogel_sparse_create(features, sites, &in));
  EXPECT_OK(aerogel_weight_create(t, &w));
  for (which = AEROGEL_NO_ACTIVATION; which <= AEROGEL_GELU_TANH; ++which) {
    if (verbs[which]) {
      EXPECT_OK(verbs[which](in, NULL, &out));
      EXPECT_FEATURES(out, 3, expected[which]);
      aerogel_sparse_destroy(out);
    }
    epilogue.activation = (aerogel_activation)which;
    epilogue.negative_slope = 0.25f;
    EXPECT_OK(aerogel_conv(AEROGEL_SUBMANIFOLD, in, w, NULL, &epilogue, NULL, &out));
    EXPECT_FEATURES(out, 3, expected[which]);
    aerogel_sparse_destroy(out);
  }
  {
    const float quarter[] = {-0.5f, 0, 1.5f}, hundredth[] = {-0.02f, 0, 1.5f};
    EXPECT_OK(aerogel_leaky_relu(in, 0.25f, NULL, &out));
    EXPECT_FEATURES(out, 3, quarter);
    aerogel_sparse_destroy(out);
    epilogue.activation = AEROGEL_LEAKY_RELU;
    epilogue.negative_slope = 0; /* the default */
    EXPECT_OK(aerogel_conv(AEROGEL_SUBMANIFOLD, in, w, NULL, &epilogue, NULL, &out));
    EXPECT_FEATURES(out, 3, hundredth);
    aerogel_sparse_destroy(out);
  }
  epilogue.activation = (aerogel_activation)7;
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "activation is 7, expected 0 to 6",
               aerogel_conv(AEROGEL_SUBMANIFOLD, in, w, NULL, &epilogue, NULL, &out));
  EXPECT(out == NULL);
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "in must not be NULL", aerogel_silu(NULL, NULL, &out));
  aerogel_weight_destroy(w);
  aerogel_sparse_destroy(in);
  aerogel_coordinates_destroy(sites);
  aerogel_tensor_destroy(t);
  aerogel_tensor_destroy(features);
}

static void test_points_and_networks(void) {
  const float points[] = {0.1f, 0.1f, 0.1f, 0.2f, 0.2f, 0.2f, 9, 9, 9}, mean[] = {0.15f, 0.15f, 0.15f};
  const float lo[] = {0, 0, 0}, hi[] = {1, 1, 1}, size[] = {0.5f, 0.5f, 0.5f};
  const int64_t shape[] = {3, 3};
  aerogel_tensor *t = tensor(AEROGEL_F32, 2, shape, points), *ids = NULL;
  aerogel_sparse* voxels = NULL;
  aerogel_network* network = NULL;
  EXPECT_OK(aerogel_voxelize_mean(t, lo, hi, size, NULL, &voxels, &ids));
  EXPECT_FEATURES(voxels, 3, mean);
  EXPECT(((const int64_t*)aerogel_tensor_data(ids))[2] == -1);
  aerogel_tensor_destroy(ids);

  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "centerpoint",
               aerogel_network_create("no such network", NULL, &network));
  EXPECT_OK(aerogel_network_create("centerpoint", NULL, &network));
  {
    aerogel_sparse* out = NULL;
    EXPECT(aerogel_network_forward(network, voxels, NULL, &out) ==
           AEROGEL_INVALID_ARGUMENT); /* no weights yet */
  }
  EXPECT_OK(aerogel_network_init(network, 1));
  EXPECT_FAILS(AEROGEL_DEVICE_ERROR, "missing.safetensors",
               aerogel_network_load(network, "missing.safetensors", NULL));
  aerogel_network_destroy(network);
  EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, ".xyz", aerogel_read_points("points.xyz", "x,y,z", &ids));
  {
    FILE* file = fopen("capi_points.bin", "wb");
    const float row[] = {1, 2, 3, 4};
    EXPECT(file && fwrite(row, sizeof row, 1, file) == 1);
    if (file) fclose(file);
    EXPECT_OK(aerogel_read_points("capi_points.bin", "z,intensity", &ids));
    EXPECT(aerogel_tensor_size(ids, 1) == 2 && ((const double*)aerogel_tensor_data(ids))[0] == 3.0);
    aerogel_tensor_destroy(ids);
    EXPECT_FAILS(AEROGEL_INVALID_ARGUMENT, "ring", aerogel_read_points("capi_points.bin", "x,ring", &ids));
    file = fopen("capi_points.bin", "wb");
    EXPECT(file && fwrite(row, 6, 1, file) == 1);
    if (file) fclose(file);
    EXPECT(aerogel_read_points("capi_points.bin", "x", &ids) == AEROGEL_FORMAT_ERROR);
    remove("capi_points.bin");
  }
  aerogel_sparse_destroy(voxels);
  aerogel_tensor_destroy(t);
}

int main(void) {
  EXPECT(strlen(aerogel_version()) >= 5 && aerogel_last_error()[0] == '\0');
  EXPECT(strcmp(aerogel_status_name(AEROGEL_OUT_OF_MEMORY), "out of memory") == 0);
  test_tensors();
  test_wrapped_memory_is_released_with_its_last_handle();
  test_convolutions();
  test_other_layers();
  test_activations();
  test_points_and_networks();
  printf(failures ? "%d failures\n" : "C API: ok\n", failures);
  return failures != 0;
}
