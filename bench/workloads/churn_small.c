/* churn_small: one thread keeps 4096 blocks of 16 to 527 bytes and replaces one at random, again
 * and again.
 *
 * Models the steady state of an interpreter or a server with one thread: the live set does not
 * grow, every new block is of another size than the one freed before it. After "alloc-test" of the
 * mimalloc benchmark set. The figure is the cost of malloc and free when the freed block cannot be
 * handed out again at once.
 */
#include "bench.h"

#define LIVE 4096

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(1);
  static void *blocks[LIVE];
  static uint32_t sizes[LIVE];
  long rounds = bench_scaled(&bench, 28000000, 1000);
  uint64_t checksum = 0;
  for (long i = 0; i < rounds; i++) {
    uint64_t number = bench_next(&random);
    unsigned slot = (unsigned)number % LIVE;
    if (blocks[slot] != NULL) checksum += bench_check(blocks[slot], sizes[slot]);
    free(blocks[slot]);
    sizes[slot] = 16 + (uint32_t)(number >> 32) % 512;
    blocks[slot] = malloc(sizes[slot]);
    bench_mark(blocks[slot], sizes[slot], (uint32_t)i);
  }
  for (int slot = 0; slot < LIVE; slot++) {
    if (blocks[slot] != NULL) checksum += bench_check(blocks[slot], sizes[slot]);
    free(blocks[slot]);
  }
  bench_finish(&bench, checksum);
  return 0;
}
