/* medium_blocks: buffers of 32 KiB to 1 MiB come and go in two threads, and all of each is written.
 *
 * Models compression windows, decoded pictures, network and database pages: larger than the
 * small-object machinery, smaller than what deserves a mapping of its own. Half are freed in the
 * order in which they came, half at random. Each thread keeps 48 of them, 11 MiB on average.
 */
#include "bench.h"

#define LIVE 48

struct worker {
  uint64_t seed;
  long rounds;
  uint64_t checksum;
  char pad[64];
};

static void *work(void *argument) {
  struct worker *worker = argument;
  struct bench_random random = bench_seed(worker->seed);
  unsigned char *blocks[LIVE] = {NULL};
  size_t sizes[LIVE] = {0};
  for (long i = 0; i < worker->rounds; i++) {
    unsigned slot = i % 2 == 0 ? (unsigned)(i / 2) % LIVE : bench_below(&random, LIVE);
    if (blocks[slot] != NULL) worker->checksum += bench_check(blocks[slot], sizes[slot]);
    free(blocks[slot]);
    sizes[slot] = bench_skewed(&random, 32 << 10, 1 << 20);
    blocks[slot] = malloc(sizes[slot]);
    if (blocks[slot] == NULL) bench_fail("out of memory");
    memset(blocks[slot], (int)i, sizes[slot]);
    bench_mark(blocks[slot], sizes[slot], (uint32_t)i);
  }
  for (int slot = 0; slot < LIVE; slot++) free(blocks[slot]);
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct worker workers[BENCH_THREADS_MAX];
  for (int i = 0; i < bench.threads; i++) {
    workers[i].seed = (uint64_t)i + 1;
    workers[i].rounds = bench_scaled(&bench, 9000, 60);
  }
  bench_parallel(bench.threads, work, workers, sizeof workers[0]);
  uint64_t checksum = 0;
  for (int i = 0; i < bench.threads; i++) checksum += workers[i].checksum;
  bench_finish(&bench, checksum);
  return 0;
}
