/* handover: generations of two threads build trees of blocks and swap them through shared slots, so
 * a thread drops trees that others made, some of which have ended.
 *
 * Models task systems and actor programs. After "mstress" of the mimalloc set: sizes mostly small,
 * one in 1000 large; what is in the slots at the end of a generation is found by the next one's
 * threads.
 */
#include "bench.h"

#define SLOTS 512
#define GENERATIONS 12

struct tree {
  struct tree *left, *right;
  uint32_t tag;
  uint32_t size;
};

struct worker {
  uint64_t seed;
  long trees;
  uint64_t checksum;
  char pad[64];
};

static struct tree *slots[SLOTS];

static struct tree *grow(struct bench_random *random, int depth) {
  size_t size = bench_below(random, 1000) == 0 ? bench_between(random, 8000, 60000)
                                               : bench_skewed(random, 32, 500);
  struct tree *tree = malloc(size);
  if (tree == NULL) bench_fail("out of memory");
  tree->size = (uint32_t)size;
  tree->tag = (uint32_t)bench_next(random);
  ((unsigned char *)tree)[size - 1] = (unsigned char)size;
  int deeper = depth > 0 && (depth > 3 || bench_below(random, 4) != 0);
  tree->left = deeper ? grow(random, depth - 1) : NULL;
  tree->right = deeper ? grow(random, depth - 1) : NULL;
  return tree;
}

static uint64_t fell(struct tree *tree) {
  if (tree == NULL) return 0;
  uint64_t sum = fell(tree->left) + fell(tree->right) + bench_mix(tree->tag);
  /* A block of exactly 32 bytes keeps its mark in its last byte, outside of the fields only if it
   * is larger. */
  if (tree->size > sizeof *tree &&
      ((unsigned char *)tree)[tree->size - 1] != (unsigned char)tree->size)
    sum ^= 0xbad;
  free(tree);
  return sum;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  struct bench_random random = bench_seed(worker->seed);
  for (long i = 0; i < worker->trees; i++) {
    struct tree *tree = grow(&random, 6);
    unsigned slot = bench_below(&random, SLOTS);
    worker->checksum += fell(__atomic_exchange_n(&slots[slot], tree, __ATOMIC_ACQ_REL));
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct worker workers[BENCH_THREADS_MAX];
  uint64_t checksum = 0;
  for (int generation = 0; generation < GENERATIONS; generation++) {
    for (int i = 0; i < bench.threads; i++) {
      workers[i].seed = (uint64_t)(generation * BENCH_THREADS_MAX + i);
      workers[i].trees = bench_scaled(&bench, 30000, 300) / GENERATIONS;
      workers[i].checksum = 0;
    }
    bench_parallel(bench.threads, work, workers, sizeof workers[0]);
    for (int i = 0; i < bench.threads; i++) checksum += workers[i].checksum;
  }
  for (int i = 0; i < SLOTS; i++) checksum += fell(slots[i]);
  bench_finish(&bench, checksum);
  return 0;
}
