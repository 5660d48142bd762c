/* calloc_heavy: zeroed blocks of 16 bytes to 128 KiB; a few bytes of each are read and written.
 *
 * Models programs that take all their memory from calloc (interpreters, GLib's g_new0, sparse
 * tables). Fresh memory of the system is zero already; an allocator that knows so need not clear
 * it. Small blocks are reused, so they must be cleared. The checksum reads blocks back and would
 * notice one that is not zero.
 */
#include "bench.h"

#define LIVE 3000

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(22);
  static unsigned char *blocks[LIVE];
  long rounds = bench_scaled(&bench, 1600000, 1000);
  uint64_t checksum = 0;
  for (long i = 0; i < rounds; i++) {
    unsigned slot = bench_below(&random, LIVE);
    free(blocks[slot]);
    /* Nine of ten are small; a large one is a table of which little is used. */
    size_t size =
        i % 10 != 0 ? bench_skewed(&random, 16, 1024) : bench_skewed(&random, 2048, 128 * 1024);
    unsigned char *block = calloc(1, size);
    if (block == NULL) bench_fail("out of memory");
    size_t step = size / 8;
    for (size_t at = 0; at < size; at += step) {
      checksum += block[at]; /* 0 */
      block[at] = (unsigned char)(i + 1);
    }
    checksum += block[size - 1] + bench_mix(size);
    block[size - 1] = 0xff;
    blocks[slot] = block;
  }
  for (int slot = 0; slot < LIVE; slot++) free(blocks[slot]);
  bench_finish(&bench, checksum);
  return 0;
}
