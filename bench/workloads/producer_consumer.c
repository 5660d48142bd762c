/* producer_consumer: one thread allocates, another frees, always in the same direction.
 *
 * Models a reader thread that parses messages and a worker that handles and drops them. After
 * "xmalloc-test" of the mimalloc set (Lever and Boreham). The queue holds at most 1024 blocks, so
 * memory that grows beyond that is the allocator's. The figure is the cost of a free by a foreign
 * thread and of getting the block back.
 */
#include "bench.h"

struct message {
  uint32_t tag;
  uint32_t size;
};

struct pipe {
  struct bench_queue queue;
  uint64_t seed;
  long messages;
  uint64_t checksum;
};

static void *produce(void *argument) {
  struct pipe *pipe = argument;
  struct bench_random random = bench_seed(pipe->seed);
  for (long i = 0; i < pipe->messages; i++) {
    size_t size = bench_skewed(&random, 32, 1024);
    struct message *message = malloc(size);
    if (message == NULL) bench_fail("out of memory");
    message->tag = (uint32_t)i;
    message->size = (uint32_t)size;
    ((unsigned char *)message)[size - 1] = (unsigned char)i;
    bench_give(&pipe->queue, message);
  }
  bench_give(&pipe->queue, NULL);
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  struct pipe *pipe = calloc(1, sizeof *pipe);
  if (pipe == NULL) bench_fail("out of memory");
  pipe->seed = 5;
  pipe->messages = bench_scaled(&bench, 9000000, 1000);
  bench.threads = 2;
  pthread_t producer;
  bench_thread(&producer, produce, pipe);
  uint64_t checksum = 0;
  struct message *message;
  while ((message = bench_take(&pipe->queue)) != NULL) {
    checksum += bench_mix(message->tag) + ((unsigned char *)message)[message->size - 1];
    free(message);
  }
  pthread_join(producer, NULL);
  free(pipe);
  bench_finish(&bench, checksum);
  return 0;
}
