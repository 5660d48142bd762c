/* loader_main: worker threads build a data set; the main thread frees all of it; and again.
 *
 * Models asset or document loading: loader threads allocate many small blocks, the main thread owns
 * and later drops them. The main thread frees much more than it allocates, so an allocator that
 * keeps freed blocks with the thread that freed them grows with every round. Figures: time, and
 * peak memory against one round's 40 MB.
 */
#include "bench.h"

#define ROUNDS 12

struct item {
  struct item *next;
  uint32_t tag;
};

struct loader {
  uint64_t seed;
  long items;
  struct item *list;
  char pad[64];
};

static void *load(void *argument) {
  struct loader *loader = argument;
  struct bench_random random = bench_seed(loader->seed);
  struct item *list = NULL;
  for (long i = 0; i < loader->items; i++) {
    struct item *item = malloc(bench_skewed(&random, 24, 700));
    if (item == NULL) bench_fail("out of memory");
    item->next = list;
    item->tag = (uint32_t)bench_next(&random);
    list = item;
  }
  loader->list = list;
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct loader loaders[BENCH_THREADS_MAX];
  uint64_t checksum = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < bench.threads; i++) {
      loaders[i].seed = (uint64_t)(round * BENCH_THREADS_MAX + i);
      loaders[i].items = bench_scaled(&bench, 130000, 50);
    }
    bench_parallel(bench.threads, load, loaders, sizeof loaders[0]);
    for (int i = 0; i < bench.threads; i++) {
      struct item *next;
      for (struct item *item = loaders[i].list; item != NULL; item = next) {
        next = item->next;
        checksum += item->tag;
        free(item);
      }
    }
  }
  bench_finish(&bench, checksum);
  return 0;
}
