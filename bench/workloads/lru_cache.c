/* lru_cache: a cache with a budget of 40 MB; values of 64 bytes to 16 KiB, whose usual size changes
 * over time; the least recently used ones make room.
 *
 * Models memcached or the cache in a database. The program never holds more than its budget, so
 * peak memory above 40 MB is fragmentation. Values are written whole.
 */
#include "bench.h"

#define BUDGET (40L << 20)
#define BUCKETS (1 << 16)
#define KEYS 150000

struct entry {
  struct entry *chain;
  struct entry *newer, *older;
  uint32_t key;
  uint32_t size;
  unsigned char *value;
};

static struct entry *buckets[BUCKETS];
static struct entry ends = {.newer = &ends, .older = &ends}; /* ends.newer is the oldest */
static long used;

static struct entry **place(uint32_t key) {
  struct entry **link = &buckets[bench_mix(key) % BUCKETS];
  while (*link != NULL && (*link)->key != key) link = &(*link)->chain;
  return link;
}

static void detach(struct entry *entry) {
  entry->newer->older = entry->older;
  entry->older->newer = entry->newer;
}

static void attach_newest(struct entry *entry) {
  entry->older = ends.older;
  entry->newer = &ends;
  ends.older->newer = entry;
  ends.older = entry;
}

static uint64_t evict(struct entry *entry) {
  uint64_t value = bench_check(entry->value, entry->size);
  *place(entry->key) = entry->chain;
  detach(entry);
  used -= entry->size;
  free(entry->value);
  free(entry);
  return value;
}

static uint64_t insert(uint32_t key, uint32_t size, uint32_t tag, long budget) {
  uint64_t sum = 0;
  while (used + size > budget && ends.newer != &ends) sum += evict(ends.newer);
  struct entry *entry = calloc(1, sizeof *entry);
  if (entry == NULL) bench_fail("out of memory");
  entry->key = key;
  entry->size = size;
  entry->value = malloc(size);
  if (entry->value == NULL) bench_fail("out of memory");
  memset(entry->value, (int)key, size);
  bench_mark(entry->value, size, tag);
  struct entry **link = place(key);
  entry->chain = *link;
  *link = entry;
  attach_newest(entry);
  used += size;
  return sum;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(28);
  long requests = bench_scaled(&bench, 900000, 2000);
  long budget = bench_scaled(&bench, BUDGET, 200000);
  uint64_t checksum = 0;
  for (long i = 0; i < requests; i++) {
    /* The square of a random number: few keys are asked for often, most of them seldom. */
    uint64_t draw = bench_below(&random, 65536);
    uint32_t key = (uint32_t)(draw * draw * KEYS >> 32);
    struct entry *entry = *place(key);
    if (entry != NULL) {
      checksum += bench_check(entry->value, entry->size);
      detach(entry);
      attach_newest(entry);
      if (bench_below(&random, 8) != 0) continue;
      checksum += evict(entry); /* a write replaces the value */
    }
    /* The usual size moves from small to large and back. */
    size_t least = (size_t)64 << (i * 8 / requests) % 5;
    checksum +=
        insert(key, (uint32_t)bench_skewed(&random, least, least * 16), (uint32_t)i, budget);
  }
  while (ends.newer != &ends) checksum += evict(ends.newer);
  bench_finish(&bench, checksum);
  return 0;
}
