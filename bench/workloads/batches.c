/* batches: two threads allocate batches of blocks of one size and free most of a batch in the order
 * of allocation, the next one in reverse, and leave some blocks for later.
 *
 * Models parsers and compilers, whose passes make many equal objects and drop them together. After
 * MicroQuill's "sh6bench" and "sh8bench" (the order of frees; a share that outlives its batch). The
 * sizes go round from 16 to 1000.
 */
#include "bench.h"

#define BATCH 2000
#define LEFT 256

struct worker {
  long batches;
  uint64_t checksum;
  char pad[64];
};

static uint64_t drop(uint32_t *block) {
  uint64_t tag = *block;
  free(block);
  return tag;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  uint32_t **blocks = calloc(BATCH, sizeof *blocks);
  uint32_t *left[LEFT] = {NULL};
  if (blocks == NULL) bench_fail("out of memory");
  uint32_t serial = 0;
  uint64_t checksum = 0;
  for (long batch = 0; batch < worker->batches; batch++) {
    size_t size = 16 + (size_t)(batch * 24 % 985);
    for (int i = 0; i < BATCH; i++) {
      blocks[i] = malloc(size);
      if (blocks[i] == NULL) bench_fail("out of memory");
      *blocks[i] = serial++;
    }
    for (int i = 0; i < BATCH; i++) {
      int at = batch % 2 == 0 ? i : BATCH - 1 - i;
      uint32_t *block = blocks[at];
      if (at % 97 == 0) { /* outlives the batch; what was left there before goes */
        uint32_t *old = left[serial % LEFT];
        left[serial++ % LEFT] = block;
        block = old;
      }
      if (block != NULL) checksum += drop(block);
    }
  }
  for (int i = 0; i < LEFT; i++)
    if (left[i] != NULL) checksum += drop(left[i]);
  free(blocks);
  worker->checksum = checksum;
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct worker workers[BENCH_THREADS_MAX];
  for (int i = 0; i < bench.threads; i++) workers[i].batches = bench_scaled(&bench, 3000, 30);
  bench_parallel(bench.threads, work, workers, sizeof workers[0]);
  uint64_t checksum = 0;
  for (int i = 0; i < bench.threads; i++) checksum += workers[i].checksum;
  bench_finish(&bench, checksum);
  return 0;
}
