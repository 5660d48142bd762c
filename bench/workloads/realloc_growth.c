/* realloc_growth: 64 vectors grow side by side by realloc, by half of their size at a time, to some
 * MiB.
 *
 * Models growing buffers, logs and column stores. Because many grow at once, a block can seldom be
 * extended where it lies. The figure shows the cost of copying between classes and, for the large
 * sizes, whether pages are moved (mremap) or copied. Peak memory shows what the growth leaves
 * behind.
 */
#include "bench.h"

#define VECTORS 64

struct vector {
  uint64_t *items;
  size_t used;
  size_t capacity;
};

static void append(struct vector *vector, uint64_t item) {
  if (vector->used == vector->capacity) {
    vector->capacity = vector->capacity == 0 ? 4 : vector->capacity + vector->capacity / 2;
    vector->items = realloc(vector->items, vector->capacity * sizeof *vector->items);
    if (vector->items == NULL) bench_fail("out of memory");
  }
  vector->items[vector->used++] = item;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(13);
  uint64_t checksum = 0;
  for (int round = 0; round < 4; round++) {
    struct vector vectors[VECTORS] = {{0}};
    /* About 130 KB a vector on average, up to 4 MiB: the first vectors are chosen more often. */
    long items = bench_scaled(&bench, 4000000, 5000);
    for (long i = 0; i < items; i++) {
      uint32_t first = bench_below(&random, VECTORS), second = bench_below(&random, VECTORS);
      struct vector *vector = &vectors[first * second / VECTORS * first / VECTORS];
      /* Appended in runs, as data arrives. */
      for (int k = 0; k < 4; k++) append(vector, (uint64_t)(i + k));
    }
    for (int v = 0; v < VECTORS; v++) {
      for (size_t i = 0; i < vectors[v].used; i += 64) checksum += vectors[v].items[i];
      free(vectors[v].items);
    }
  }
  bench_finish(&bench, checksum);
  return 0;
}
