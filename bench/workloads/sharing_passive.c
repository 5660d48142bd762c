/* sharing_passive: the main thread hands small blocks, allocated side by side, to threads that free
 * them, allocate blocks of the same size and write to those many times.
 *
 * If a thread gets the freed piece of a shared cache line back, the line stays shared between cores
 * for good (passive false sharing). After "cache-scratch" of Berger's Hoard set.
 */
#include "bench.h"

#define WRITES 400

struct worker {
  void *given;
  long rounds;
  uint64_t checksum;
};

static void *work(void *argument) {
  struct worker *worker = argument;
  uint64_t checksum = bench_check(worker->given, 8);
  free(worker->given);
  for (long i = 0; i < worker->rounds; i++) {
    volatile uint32_t *block = malloc(8);
    if (block == NULL) bench_fail("out of memory");
    *block = (uint32_t)i;
    for (int k = 0; k < WRITES; k++) *block = *block + 1;
    checksum += *block;
    free((void *)block);
  }
  worker->checksum = checksum;
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct worker workers[BENCH_THREADS_MAX];
  uint64_t checksum = 0;
  for (int generation = 0; generation < 20; generation++) {
    for (int i = 0; i < bench.threads; i++) {
      workers[i].given = malloc(8);
      bench_mark(workers[i].given, 8, (uint32_t)(generation * 64 + i));
      workers[i].rounds = bench_scaled(&bench, 1500000, 100) / 20;
    }
    bench_parallel(bench.threads, work, workers, sizeof workers[0]);
    for (int i = 0; i < bench.threads; i++) checksum += workers[i].checksum;
  }
  bench_finish(&bench, checksum);
  return 0;
}
