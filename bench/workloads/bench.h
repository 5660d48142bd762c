/* bench.h: what every workload shares: arguments, a random generator with a fixed seed, the clock,
 * blocks that carry their own proof, and the lines the runner reads.
 *
 * A workload is called as   NAME [SCALE [THREADS]]   where SCALE is the amount of work in percent
 * (100 when absent). It prints
 *
 *   seconds=0.123456            the time its work took, measured inside
 *   checksum=0123456789abcdef   must be the same on every allocator
 *   threads=2                   the threads that allocate at one time
 *   rss_NAME_kib=1234           optional: resident memory at a moment that the workload names
 *
 * The checksum is made of what was read back from the blocks, so a block that was handed out twice
 * or lost its contents changes it.
 *
 * Nothing here depends on addresses or on the order in which threads run.
 */
#ifndef GRANARY_BENCH_H
#define GRANARY_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_THREADS_MAX 64

struct bench {
  double scale; /* 1.0 for the full amount of work */
  int threads;
  double started;
  double paused; /* seconds of waiting that are part of the model but not of the work */
};

static inline void bench_fail(const char *what) {
  fprintf(stderr, "granary bench: %s: %s\n", what, strerror(errno));
  exit(2);
}

static inline double bench_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Reads the arguments and starts the clock. threads is what the workload uses unless it is told
 * otherwise. */
static inline struct bench bench_start(int argc, char **argv, int threads) {
  struct bench bench = {1.0, threads, 0, 0};
  if (argc > 1) bench.scale = atof(argv[1]) / 100;
  if (argc > 2 && threads > 1) bench.threads = atoi(argv[2]);
  if (bench.scale <= 0 || bench.threads < 1 || bench.threads > BENCH_THREADS_MAX) {
    fprintf(stderr, "usage: %s [SCALE_PERCENT [THREADS]]\n", argv[0]);
    exit(2);
  }
  bench.started = bench_clock();
  return bench;
}

/* count at the scale asked for, never less than least. */
static inline long bench_scaled(const struct bench *bench, long count, long least) {
  long scaled = (long)((double)count * bench->scale);
  return scaled < least ? least : scaled;
}

static inline void bench_finish(const struct bench *bench, uint64_t checksum) {
  double seconds = bench_clock() - bench->started - bench->paused;
  printf("seconds=%.6f\nchecksum=%016llx\nthreads=%d\n", seconds, (unsigned long long)checksum,
         bench->threads);
}

/* ---- random numbers: splitmix64, fast and good enough for choosing sizes and slots ---- */

struct bench_random {
  uint64_t state;
};

static inline struct bench_random bench_seed(uint64_t seed) {
  struct bench_random random = {seed * 0x9e3779b97f4a7c15u + 0x7f4a7c159e3779b9u};
  return random;
}

static inline uint64_t bench_next(struct bench_random *random) {
  uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* A number from 0 to limit - 1. */
static inline uint32_t bench_below(struct bench_random *random, uint32_t limit) {
  return (uint32_t)(((bench_next(random) >> 32) * limit) >> 32);
}

static inline size_t bench_between(struct bench_random *random, size_t least, size_t most) {
  return least + bench_below(random, (uint32_t)(most - least + 1));
}

/* A size from least to most, small ones often and large ones rarely: each doubling is as likely as
 * the next. */
static inline size_t bench_skewed(struct bench_random *random, size_t least, size_t most) {
  size_t low = least;
  int doublings = 0;
  for (size_t size = least; size < most; size *= 2) doublings++;
  low <<= bench_below(random, (uint32_t)(doublings > 0 ? doublings : 1));
  size_t high = low * 2 - 1 < most ? low * 2 - 1 : most;
  return low >= high ? high : bench_between(random, low, high);
}

/* ---- blocks that carry their own proof ---- */

/* Writes a tag into the first four bytes and its low byte into the last one. size is at least 4. */
static inline void bench_mark(void *block, size_t size, uint32_t tag) {
  if (block == NULL) bench_fail("out of memory");
  memcpy(block, &tag, sizeof tag);
  if (size > 4) ((unsigned char *)block)[size - 1] = (unsigned char)tag;
}

/* Reads back what bench_mark wrote: the tag, or a value that spoils the checksum. */
static inline uint64_t bench_check(const void *block, size_t size) {
  uint32_t tag;
  memcpy(&tag, block, sizeof tag);
  if (size > 4 && ((const unsigned char *)block)[size - 1] != (unsigned char)tag)
    return 0xbad000000000u;
  return tag;
}

/* The same mixing for single numbers; commutative when the results are added. */
static inline uint64_t bench_mix(uint64_t value) {
  struct bench_random random = {value};
  return bench_next(&random);
}

/* ---- memory ---- */

static inline long bench_rss_kib(void) {
  char text[128];
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) bench_fail("/proc/self/statm");
  /* A static buffer, so that reading the figure does not allocate. */
  static char buffer[256];
  setvbuf(file, buffer, _IOFBF, sizeof buffer);
  long total = 0, resident = 0;
  if (fgets(text, sizeof text, file) == NULL || sscanf(text, "%ld %ld", &total, &resident) != 2)
    bench_fail("/proc/self/statm cannot be read");
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static inline void bench_report_rss(const char *moment, long kib) {
  printf("rss_%s_kib=%ld\n", moment, kib);
}

/* ---- threads ---- */

static inline void bench_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
  int failed = pthread_create(thread, NULL, run, argument);
  if (failed != 0) {
    errno = failed;
    bench_fail("pthread_create");
  }
}

/* Runs run(array[0..threads-1]) on as many threads and waits for all of them. */
static inline void bench_parallel(int threads, void *(*run)(void *), void *array,
                                  size_t item_bytes) {
  pthread_t ids[BENCH_THREADS_MAX];
  for (int i = 0; i < threads; i++)
    bench_thread(&ids[i], run, (char *)array + (size_t)i * item_bytes);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
}

/* A bounded queue from one thread to one other. Full or empty, a thread yields: the queue is to
 * cost little beside the allocator. */
#define BENCH_QUEUE_SLOTS 1024

struct bench_queue {
  void *slots[BENCH_QUEUE_SLOTS];
  char pad0[64];
  unsigned head; /* written by the taker */
  char pad1[64];
  unsigned tail; /* written by the giver */
  char pad2[64];
};

static inline void bench_give(struct bench_queue *queue, void *item) {
  unsigned tail = queue->tail;
  while (tail - __atomic_load_n(&queue->head, __ATOMIC_ACQUIRE) == BENCH_QUEUE_SLOTS) sched_yield();
  queue->slots[tail % BENCH_QUEUE_SLOTS] = item;
  __atomic_store_n(&queue->tail, tail + 1, __ATOMIC_RELEASE);
}

/* Takes an item if there is one. */
static inline int bench_try_take(struct bench_queue *queue, void **item) {
  unsigned head = queue->head;
  if (head == __atomic_load_n(&queue->tail, __ATOMIC_ACQUIRE)) return 0;
  *item = queue->slots[head % BENCH_QUEUE_SLOTS];
  __atomic_store_n(&queue->head, head + 1, __ATOMIC_RELEASE);
  return 1;
}

static inline void *bench_take(struct bench_queue *queue) {
  void *item;
  while (!bench_try_take(queue, &item)) sched_yield();
  return item;
}

#endif
