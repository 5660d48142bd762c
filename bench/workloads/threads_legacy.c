/* threads_legacy: 12000 tiny threads, one after the other; each allocates a few blocks and leaves
 * one behind for good, so the heap is full of blocks whose makers are long gone. At the end the
 * main thread frees every second one.
 *
 * Models plug-ins, timers and callbacks that run on threads of their own and register results; a
 * leak in small. After the thread-termination tests of glibc and rpmalloc ("a whole heap lost with
 * each thread"). Figures: time of a tiny thread, and peak memory, which must grow with the blocks
 * (2 MB) and not with the threads.
 */
#include "bench.h"

#define TOUCHED 6

struct task {
  uint64_t seed;
  void *legacy;
};

static void *run(void *argument) {
  struct task *task = argument;
  struct bench_random random = bench_seed(task->seed);
  void *blocks[TOUCHED];
  for (int i = 0; i < TOUCHED; i++) {
    size_t size = bench_between(&random, 16, 300);
    blocks[i] = malloc(size);
    bench_mark(blocks[i], size, (uint32_t)(task->seed * TOUCHED + (uint64_t)i));
  }
  for (int i = 1; i < TOUCHED; i++) free(blocks[i]);
  task->legacy = blocks[0];
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  long threads = bench_scaled(&bench, 12000, 20);
  void **legacies = calloc((size_t)threads, sizeof *legacies);
  if (legacies == NULL) bench_fail("out of memory");
  for (long i = 0; i < threads; i++) {
    struct task task = {(uint64_t)i, NULL};
    pthread_t thread;
    bench_thread(&thread, run, &task);
    pthread_join(thread, NULL);
    legacies[i] = task.legacy;
  }
  uint64_t checksum = 0;
  for (long i = 0; i < threads; i++) {
    checksum += bench_check(legacies[i], 4);
    if (i % 2 == 0) free(legacies[i]);
  }
  bench_finish(&bench, checksum);
  return 0;
}
