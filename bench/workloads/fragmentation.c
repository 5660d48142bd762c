/* fragmentation: phases of many short-lived and few long-lived blocks, where each phase prefers
 * other sizes.
 *
 * Models a server that runs for days: sessions, caches and queues of different sizes come and go
 * and a few blocks of each phase stay. What a phase freed must serve the next one, which asks for
 * other sizes. Peak memory is the figure that matters here: live data never exceeds 24 MB.
 */
#include "bench.h"

#define PHASES 16
#define SURVIVORS_PER_PHASE 4000
#define LIVE_BYTES (16L << 20)

struct block {
  struct block *next;
  uint32_t size;
  uint32_t tag;
};

static struct block *make(struct bench_random *random, size_t least, size_t most) {
  size_t size = bench_between(random, least, most);
  struct block *block = malloc(size);
  if (block == NULL) bench_fail("out of memory");
  memset(block, 0x33, size); /* a program uses what it asks for */
  block->size = (uint32_t)size;
  block->tag = (uint32_t)bench_next(random);
  return block;
}

static uint64_t drop(struct block *block) {
  uint64_t value = bench_mix(block->tag) + block->size;
  if (block->size > sizeof *block && ((unsigned char *)block)[block->size - 1] != 0x33)
    value ^= 0xbad;
  free(block);
  return value;
}

int main(int argc, char **argv) {
  static const size_t ranges[][2] = {{24, 64},   {200, 500}, {48, 120},    {1000, 3000},
                                     {32, 4000}, {100, 200}, {4000, 9000}, {300, 700}};
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(21);
  long live_bytes = bench_scaled(&bench, LIVE_BYTES, 100000);
  struct block *survivors = NULL;
  uint64_t checksum = 0;
  for (int phase = 0; phase < PHASES; phase++) {
    const size_t *range = ranges[phase % 8];
    long capacity = live_bytes / (long)range[0], count = 0, bytes = 0, kept = 0;
    struct block **blocks = calloc((size_t)capacity, sizeof *blocks);
    if (blocks == NULL) bench_fail("out of memory");
    while (bytes < live_bytes && count < capacity) {
      blocks[count] = make(&random, range[0], range[1]);
      bytes += blocks[count++]->size;
    }
    /* Freed in random order; now and then one survives. */
    for (long left = count; left > 0; left--) {
      long chosen = (long)(bench_next(&random) % (uint64_t)left);
      struct block *block = blocks[chosen];
      blocks[chosen] = blocks[left - 1];
      if (kept < SURVIVORS_PER_PHASE && block->size < 150 && bench_below(&random, 64) == 0) {
        block->next = survivors;
        survivors = block;
        kept++;
      } else {
        checksum += drop(block);
      }
    }
    free(blocks);
  }
  while (survivors != NULL) {
    struct block *next = survivors->next;
    checksum += drop(survivors);
    survivors = next;
  }
  bench_finish(&bench, checksum);
  return 0;
}
