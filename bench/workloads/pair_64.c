/* pair_64: allocate 64 bytes, write to them, free them, at once; one thread.
 *
 * The bare fast path: what a temporary object costs. After the first row of every allocator's own
 * micro-benchmarks ("glibc-simple" of the mimalloc set). The figure is nanoseconds a pair times 60
 * million.
 */
#include "bench.h"

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  long rounds = bench_scaled(&bench, 60000000, 1000);
  uint64_t checksum = 0;
  for (long i = 0; i < rounds; i++) {
    uint32_t *block = malloc(64);
    if (block == NULL) bench_fail("out of memory");
    *(volatile uint32_t *)block = (uint32_t)i;
    checksum += *(volatile uint32_t *)block;
    free(block);
  }
  bench_finish(&bench, checksum);
  return 0;
}
