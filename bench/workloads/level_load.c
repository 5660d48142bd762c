/* level_load: 500 MB of small blocks are loaded, used, all but one in 4000 unloaded, and the
 * program then waits 1.5 seconds in poll.
 *
 * Models a game that changes levels, or a server after a burst. The time is that of loading,
 * walking and unloading, without the wait. The figures that matter are resident memory before,
 * loaded, unloaded, and after the wait, in which the program does nothing at all: an allocator
 * gives memory back then only if it does so by itself.
 */
#include <poll.h>

#include "bench.h"

struct asset {
  struct asset *next;
  uint32_t tag;
  uint32_t size;
};

static struct asset *load(struct bench_random *random, long bytes) {
  struct asset *level = NULL;
  while (bytes > 0) {
    size_t size = bench_skewed(random, 24, 1500);
    struct asset *asset = malloc(size);
    if (asset == NULL) bench_fail("out of memory");
    memset(asset, 0x11, size);
    asset->size = (uint32_t)size;
    asset->tag = (uint32_t)bench_next(random);
    asset->next = level;
    level = asset;
    bytes -= (long)size;
  }
  return level;
}

static uint64_t walk(const struct asset *asset) {
  uint64_t sum = 0;
  for (; asset != NULL; asset = asset->next) sum += bench_mix(asset->tag);
  return sum;
}

/* Frees a level; every 4000th block is one that the program goes on using. */
static struct asset *unload(struct asset *asset, uint64_t *checksum) {
  struct asset *kept = NULL, *next;
  for (long i = 0; asset != NULL; asset = next, i++) {
    next = asset->next;
    *checksum += asset->size;
    if (i % 4000 == 0) {
      asset->next = kept;
      kept = asset;
    } else {
      free(asset);
    }
  }
  return kept;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(25);
  long before = bench_rss_kib();
  struct asset *level = load(&random, bench_scaled(&bench, 500000000, 100000));
  uint64_t checksum = walk(level);
  long loaded = bench_rss_kib();
  struct asset *kept = unload(level, &checksum);
  long unloaded = bench_rss_kib();
  double waiting = bench_clock();
  poll(NULL, 0, (int)(1500 * bench.scale));
  bench.paused += bench_clock() - waiting;
  long idle = bench_rss_kib();
  checksum += walk(kept);
  kept = unload(kept, &checksum);
  bench_finish(&bench, checksum + (kept != NULL));
  bench_report_rss("before", before);
  bench_report_rss("loaded", loaded);
  bench_report_rss("unloaded", unloaded);
  bench_report_rss("idle", idle);
  return 0;
}
