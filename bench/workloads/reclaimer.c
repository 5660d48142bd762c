/* reclaimer: two threads allocate, keep blocks for a while and pass them on; a third thread, which
 * never allocates, frees them all.
 *
 * Models epoch-based reclamation and render/IO threads that only release. The queues are bounded
 * and each producer keeps 20000 blocks, so live memory is about 20 MB; everything above it is the
 * allocator's. A known weak spot: a mimalloc of 2025 held 1.8 GiB for 370 MiB live
 * (microsoft/mimalloc issue 1364). Figures: time and peak memory.
 */
#include "bench.h"

#define KEPT 20000

struct node {
  uint32_t tag;
  uint32_t size;
};

struct producer {
  struct bench_queue queue;
  uint64_t seed;
  long blocks;
};

struct reclaimer {
  struct producer **producers;
  int count;
  uint64_t checksum;
};

static void *produce(void *argument) {
  struct producer *producer = *(struct producer **)argument;
  struct bench_random random = bench_seed(producer->seed);
  struct node **kept = calloc(KEPT, sizeof *kept);
  if (kept == NULL) bench_fail("out of memory");
  for (long i = 0; i < producer->blocks; i++) {
    size_t size = bench_skewed(&random, 32, 4000);
    struct node *node = malloc(size);
    if (node == NULL) bench_fail("out of memory");
    node->tag = (uint32_t)i;
    node->size = (uint32_t)size;
    ((unsigned char *)node)[size - 1] = (unsigned char)i;
    if (kept[i % KEPT] != NULL) bench_give(&producer->queue, kept[i % KEPT]);
    kept[i % KEPT] = node;
  }
  for (int i = 0; i < KEPT; i++)
    if (kept[i] != NULL) bench_give(&producer->queue, kept[i]);
  bench_give(&producer->queue, NULL);
  free(kept);
  return NULL;
}

static void *reclaim(void *argument) {
  struct reclaimer *reclaimer = argument;
  int open = reclaimer->count;
  char closed[BENCH_THREADS_MAX] = {0};
  while (open > 0) {
    int taken = 0;
    for (int i = 0; i < reclaimer->count; i++) {
      void *item;
      while (!closed[i] && bench_try_take(&reclaimer->producers[i]->queue, &item)) {
        struct node *node = item;
        taken++;
        if (node == NULL) {
          closed[i] = 1;
          open--;
          break;
        }
        reclaimer->checksum += bench_mix(node->tag) + ((unsigned char *)node)[node->size - 1];
        free(node);
      }
    }
    if (taken == 0) sched_yield();
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  struct producer *producers[BENCH_THREADS_MAX];
  for (int i = 0; i < bench.threads; i++) {
    producers[i] = calloc(1, sizeof *producers[i]);
    if (producers[i] == NULL) bench_fail("out of memory");
    producers[i]->seed = (uint64_t)i + 1;
    producers[i]->blocks = bench_scaled(&bench, 700000, 1000);
  }
  struct reclaimer reclaimer = {producers, bench.threads, 0};
  pthread_t thread;
  bench_thread(&thread, reclaim, &reclaimer);
  bench_parallel(bench.threads, produce, producers, sizeof producers[0]);
  pthread_join(thread, NULL);
  for (int i = 0; i < bench.threads; i++) free(producers[i]);
  bench_finish(&bench, reclaimer.checksum);
  return 0;
}
