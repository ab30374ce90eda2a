/* The engine from C: three sites, one convolution, every status looked at. */
#include <stdio.h>
#include <stdlib.h>

#include <aerogel/capi.h>

static void check(aerogel_status status) {
  if (status == AEROGEL_OK) return;
  fprintf(stderr, "%s: %s\n", aerogel_status_name(status), aerogel_last_error());
  exit(1);
}

int main(void) {
  const int32_t rows[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2, 2}; /* (batch, z, y, x) */
  const float values[] = {1, 2, 3};
  const int64_t rows_shape[] = {3, 4}, values_shape[] = {3, 1}, extents[] = {4, 4, 4},
                weight_shape[] = {1, 3, 3, 3, 1};
  float ones[27];
  aerogel_tensor *indices, *features, *taps, *result;
  aerogel_coordinates* sites;
  aerogel_sparse *in, *out;
  aerogel_weight* weight;
  int i;

  for (i = 0; i < 27; ++i) ones[i] = 1;
  check(aerogel_tensor_create(AEROGEL_I32, 2, rows_shape, rows, &indices));
  check(aerogel_tensor_create(AEROGEL_F32, 2, values_shape, values, &features));
  check(aerogel_tensor_create(AEROGEL_F32, 5, weight_shape, ones, &taps));
  check(aerogel_coordinates_create(indices, 3, extents, 1, &sites));
  check(aerogel_sparse_create(features, sites, &in));
  check(aerogel_weight_create(taps, &weight));
  check(aerogel_conv(AEROGEL_SUBMANIFOLD, in, weight, NULL, NULL, NULL, &out));
  check(aerogel_sparse_features(out, &result));
  for (i = 0; i < 3; ++i)
    printf("site %d: %g\n", i, (double)((const float*)aerogel_tensor_data(result))[i]); /* 3 3 3 */

  aerogel_tensor_destroy(indices);
  aerogel_tensor_destroy(features);
  aerogel_tensor_destroy(taps);
  aerogel_tensor_destroy(result);
  aerogel_coordinates_destroy(sites);
  aerogel_sparse_destroy(in);
  aerogel_sparse_destroy(out);
  aerogel_weight_destroy(weight);
  return 0;
}
