/* threads_short: 12000 threads, two at a time; each allocates 300 blocks, frees them and ends.
 *
 * Models a thread per request or per job. The figure shows what an allocator does at a thread's
 * first allocation and at its end, and whether a new thread can use what an old one cached.
 */
#include "bench.h"

#define BLOCKS 300

struct job {
  uint64_t seed;
  uint64_t checksum;
};

struct series {
  int jobs;
  uint64_t seed;
  uint64_t checksum;
  char pad[64];
};

static void *run(void *argument) {
  struct job *job = argument;
  struct bench_random random = bench_seed(job->seed);
  void *blocks[BLOCKS];
  size_t sizes[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    sizes[i] = bench_skewed(&random, 16, 2000);
    blocks[i] = malloc(sizes[i]);
    bench_mark(blocks[i], sizes[i], (uint32_t)bench_next(&random));
  }
  for (int i = 0; i < BLOCKS; i++) {
    job->checksum += bench_check(blocks[i], sizes[i]);
    free(blocks[i]);
  }
  return NULL;
}

static void *start_jobs(void *argument) {
  struct series *series = argument;
  for (int i = 0; i < series->jobs; i++) {
    struct job job = {series->seed * 1000003 + (uint64_t)i, 0};
    pthread_t thread;
    bench_thread(&thread, run, &job);
    pthread_join(thread, NULL);
    series->checksum += job.checksum;
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  static struct series series[BENCH_THREADS_MAX];
  for (int i = 0; i < bench.threads; i++) {
    series[i].jobs = (int)bench_scaled(&bench, 6000, 5);
    series[i].seed = (uint64_t)i + 1;
  }
  bench_parallel(bench.threads, start_jobs, series, sizeof series[0]);
  uint64_t checksum = 0;
  for (int i = 0; i < bench.threads; i++) checksum += series[i].checksum;
  bench_finish(&bench, checksum);
  return 0;
}
