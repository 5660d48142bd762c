/* large_blocks: 20 blocks of 5 to 25 MiB are replaced at random; one byte of every page of a new
 * one is written.
 *
 * Models images, matrices and file buffers. After "malloc-large" of the mimalloc set. The figure is
 * mostly the price of page faults: an allocator that returns every block to the system at once pays
 * them each time, one that keeps everything pays in peak memory. Live data is 300 MiB on average.
 */
#include "bench.h"

#define LIVE 20
#define PAGE 4096

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(24);
  unsigned char *blocks[LIVE] = {NULL};
  size_t sizes[LIVE] = {0};
  long rounds = bench_scaled(&bench, 160, 22);
  uint64_t checksum = 0;
  for (long i = 0; i < rounds; i++) {
    unsigned slot = i < LIVE ? (unsigned)i : bench_below(&random, LIVE);
    if (blocks[slot] != NULL) checksum += blocks[slot][sizes[slot] / PAGE * PAGE - PAGE];
    free(blocks[slot]);
    size_t size = bench_between(&random, 5 << 20, 25 << 20);
    if (bench.scale < 0.5) size /= 64;
    blocks[slot] = malloc(size);
    if (blocks[slot] == NULL) bench_fail("out of memory");
    sizes[slot] = size;
    for (size_t at = 0; at < size; at += PAGE) blocks[slot][at] = (unsigned char)i;
  }
  for (int slot = 0; slot < LIVE; slot++) free(blocks[slot]);
  bench_finish(&bench, checksum);
  return 0;
}
