/* thread_bursts: 16 threads, one after the other, each allocate and free a burst of 24 MB of mixed
 * sizes, keep one small block in 2000, and stay alive; then nobody does anything for 1.5 seconds.
 *
 * Models a pool of workers in a server after its busy hour, the case for which people leave glibc:
 * what each thread, arena or cache keeps adds up. The time is that of the bursts, without the wait.
 * The figures that matter: peak memory, which need not exceed one burst by much, and resident
 * memory after the bursts and after the wait (the main thread waits in poll, the workers in a
 * condition variable).
 */
#include <poll.h>

#include "bench.h"

#define WORKERS 16
#define BURST_BYTES 24000000L

struct block {
  struct block *next;
  uint32_t tag;
  uint32_t size;
};

struct worker {
  pthread_t thread;
  uint64_t seed;
  long bytes;
  uint64_t checksum;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn; /* the worker that may run; WORKERS once all have; WORKERS + 1 to end */

static void pass_turn(void) {
  pthread_mutex_lock(&lock);
  turn++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void await_turn(int wanted) {
  pthread_mutex_lock(&lock);
  while (turn < wanted) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static uint64_t drop(struct block *block) {
  uint64_t value = bench_mix(block->tag) + block->size;
  free(block);
  return value;
}

/* Allocates the burst, frees it in the order of allocation, returns the blocks to keep. */
static struct block *burst(struct worker *worker) {
  struct bench_random random = bench_seed(worker->seed);
  struct block *first = NULL, **end = &first, *kept = NULL;
  for (long bytes = worker->bytes; bytes > 0;) {
    size_t size = bench_skewed(&random, 24, 12000);
    struct block *block = malloc(size);
    if (block == NULL) bench_fail("out of memory");
    memset(block, 0x22, size);
    *block = (struct block){NULL, (uint32_t)bench_next(&random), (uint32_t)size};
    *end = block;
    end = &block->next;
    bytes -= (long)size;
  }
  long count = 0;
  for (struct block *block = first, *next; block != NULL; block = next, count++) {
    next = block->next;
    if (count % 2000 == 1999) {
      block->next = kept;
      kept = block;
    } else {
      worker->checksum += drop(block);
    }
  }
  return kept;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  await_turn((int)worker->seed);
  struct block *kept = burst(worker);
  pass_turn();
  await_turn(WORKERS + 1);
  for (struct block *next; kept != NULL; kept = next) {
    next = kept->next;
    worker->checksum += drop(kept);
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  static struct worker workers[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    workers[i].seed = (uint64_t)i;
    workers[i].bytes = bench_scaled(&bench, BURST_BYTES, 50000);
    bench_thread(&workers[i].thread, work, &workers[i]);
  }
  await_turn(WORKERS);
  long after = bench_rss_kib();
  double waiting = bench_clock();
  poll(NULL, 0, (int)(1500 * bench.scale));
  bench.paused += bench_clock() - waiting;
  long idle = bench_rss_kib();
  pass_turn();
  uint64_t checksum = 0;
  for (int i = 0; i < WORKERS; i++) {
    pthread_join(workers[i].thread, NULL);
    checksum += workers[i].checksum;
  }
  bench_finish(&bench, checksum);
  bench_report_rss("after_bursts", after);
  bench_report_rss("idle", idle);
  return 0;
}
