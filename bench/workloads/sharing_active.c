/* sharing_active: each thread again and again allocates a small block, writes to it many times and
 * frees it.
 *
 * If the allocator gives two threads blocks in the same cache line, every write fetches the line
 * from the other core (active false sharing). After "cache-thrash" of Berger's Hoard set. On an
 * allocator that keeps threads apart the figure is the pure work.
 */
#include "bench.h"

#define WRITES 400

struct worker {
  long rounds;
  uint64_t checksum;
  char pad[64];
};

static void *work(void *argument) {
  struct worker *worker = argument;
  for (long i = 0; i < worker->rounds; i++) {
    volatile uint32_t *block = malloc(8);
    if (block == NULL) bench_fail("out of memory");
    *block = (uint32_t)i;
    for (int k = 0; k < WRITES; k++) *block = *block + 1;
    worker->checksum += *block;
    free((void *)block);
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct worker workers[BENCH_THREADS_MAX];
  for (int i = 0; i < bench.threads; i++) workers[i].rounds = bench_scaled(&bench, 1500000, 100);
  bench_parallel(bench.threads, work, workers, sizeof workers[0]);
  uint64_t checksum = 0;
  for (int i = 0; i < bench.threads; i++) checksum += workers[i].checksum;
  bench_finish(&bench, checksum);
  return 0;
}
