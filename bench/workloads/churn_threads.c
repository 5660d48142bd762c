/* churn_threads: each thread keeps 2000 blocks of 16 to 8000 bytes and replaces them at random; one
 * block in 16 is exchanged with a block of another thread.
 *
 * Models worker threads with live sets of their own that now and then pass a buffer on. After
 * "rptest" (sizes, live sets) and "mstress" (exchange by atomic swap). The figure is the cost under
 * real concurrency, with few frees by a foreign thread; the resident memory shows what caches per
 * thread cost.
 */
#include "bench.h"

#define LIVE 2000
#define SHARED 256

struct block {
  uint32_t tag;
  uint32_t size;
};

struct worker {
  uint64_t seed;
  long rounds;
  uint64_t checksum;
  char pad[64];
};

static struct block *shared[SHARED];

static uint64_t drop(struct block *block) {
  if (block == NULL) return 0;
  uint64_t value = bench_mix(block->tag) + block->size;
  if (((unsigned char *)block)[block->size - 1] != 0x5a) value ^= 0xbad;
  free(block);
  return value;
}

static struct block *make(struct bench_random *random, uint32_t tag) {
  /* Small blocks far more often than large ones, as in programs; all of 16..8000 occur. */
  size_t size = bench_skewed(random, 16, 8000);
  struct block *block = malloc(size);
  if (block == NULL) bench_fail("out of memory");
  block->tag = tag;
  block->size = (uint32_t)size;
  ((unsigned char *)block)[size - 1] = 0x5a;
  return block;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  struct bench_random random = bench_seed(worker->seed);
  struct block **live = calloc(LIVE, sizeof *live);
  if (live == NULL) bench_fail("out of memory");
  for (long i = 0; i < worker->rounds; i++) {
    unsigned slot = bench_below(&random, LIVE);
    if (i % 16 == 0) {
      live[slot] =
          __atomic_exchange_n(&shared[bench_below(&random, SHARED)], live[slot], __ATOMIC_ACQ_REL);
      continue;
    }
    worker->checksum += drop(live[slot]);
    live[slot] = make(&random, (uint32_t)i);
  }
  for (unsigned slot = 0; slot < LIVE; slot++) worker->checksum += drop(live[slot]);
  free(live);
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct worker workers[BENCH_THREADS_MAX];
  for (int i = 0; i < bench.threads; i++) {
    workers[i].seed = (uint64_t)i + 1;
    workers[i].rounds = bench_scaled(&bench, 4000000, 1000);
  }
  bench_parallel(bench.threads, work, workers, sizeof workers[0]);
  uint64_t checksum = 0;
  for (int i = 0; i < bench.threads; i++) checksum += workers[i].checksum;
  for (int i = 0; i < SHARED; i++) checksum += drop(shared[i]);
  bench_finish(&bench, checksum);
  return 0;
}
