/* aligned: blocks aligned to 16 bytes up to a page, of 24 bytes to 16 KiB, among ordinary ones.
 *
 * Models vector code (32, 64), cache-line aligned objects (64, 128) and I/O buffers (512, 4096),
 * from aligned_alloc and posix_memalign. Figures: time, and peak memory; some allocators spend
 * twice the size on an aligned block. Blocks aligned to 256 bytes and more are larger than 1 KiB:
 * for those of 256, 512 and 1024 bytes mimalloc 2.0.9, Debian's, returns addresses that are not
 * aligned (microsoft/mimalloc issue 700, fixed later), and would fail here.
 */
#include "bench.h"

#define LIVE 6000

static void *make(struct bench_random *random, size_t *size) {
  static const size_t alignments[] = {16, 32, 32, 64, 64, 64, 64, 128, 256, 512, 4096};
  size_t alignment = alignments[bench_below(random, sizeof alignments / sizeof alignments[0])];
  size_t least = alignment >= 256 ? 1025 : alignment > 24 ? alignment : 24;
  size_t most = alignment >= 256 ? 16384 : 2048;
  *size = (bench_skewed(random, least, most) + alignment - 1) / alignment * alignment;
  void *block = NULL;
  if (bench_below(random, 2) == 0) {
    block = aligned_alloc(alignment, *size);
  } else if (posix_memalign(&block, alignment, *size) != 0) {
    block = NULL;
  }
  if (((uintptr_t)block & (alignment - 1)) != 0) {
    fprintf(stderr, "granary bench: aligned: %p is not aligned to %zu\n", block, alignment);
    exit(2);
  }
  return block;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(23);
  static void *blocks[LIVE];
  static size_t sizes[LIVE];
  long rounds = bench_scaled(&bench, 3500000, 1000);
  uint64_t checksum = 0;
  for (long i = 0; i < rounds; i++) {
    unsigned slot = bench_below(&random, LIVE);
    if (blocks[slot] != NULL) checksum += bench_check(blocks[slot], sizes[slot]);
    free(blocks[slot]);
    if (i % 4 == 3) {
      sizes[slot] = bench_skewed(&random, 24, 2048);
      blocks[slot] = malloc(sizes[slot]);
    } else {
      blocks[slot] = make(&random, &sizes[slot]);
    }
    bench_mark(blocks[slot], sizes[slot], (uint32_t)i);
  }
  for (int slot = 0; slot < LIVE; slot++) {
    if (blocks[slot] != NULL) checksum += bench_check(blocks[slot], sizes[slot]);
    free(blocks[slot]);
  }
  bench_finish(&bench, checksum);
  return 0;
}
