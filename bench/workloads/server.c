/* server: workers serve requests on a table of 1000 blocks each; after some time a worker hands its
 * table to a new thread and ends, so most blocks are freed by another thread than the one that made
 * them.
 *
 * Models a server with thread turnover, after Larson and Krishnan's benchmark (ISMM 1998), which
 * the field calls "larson": sizes 8 to 1000 bytes. The figure is time for a fixed number of
 * requests; resident memory shows whether the blocks that a dead thread left behind are used again.
 */
#include "bench.h"

#define TABLE 1000
#define GENERATIONS 40

struct connection {
  void *blocks[TABLE];
  uint32_t sizes[TABLE];
  struct bench_random random;
  long requests_per_generation;
  uint64_t checksum;
};

static void *serve(void *argument) {
  struct connection *connection = argument;
  for (long i = 0; i < connection->requests_per_generation; i++) {
    unsigned slot = bench_below(&connection->random, TABLE);
    connection->checksum += bench_check(connection->blocks[slot], connection->sizes[slot]);
    free(connection->blocks[slot]);
    uint32_t size = (uint32_t)bench_between(&connection->random, 8, 1000);
    connection->sizes[slot] = size;
    connection->blocks[slot] = malloc(size);
    bench_mark(connection->blocks[slot], size, (uint32_t)i);
  }
  return NULL;
}

/* Keeps one connection alive over a chain of threads, each one made by this one and joined by it.
 */
static void *chain(void *argument) {
  struct connection *connection = *(struct connection **)argument;
  for (int generation = 0; generation < GENERATIONS; generation++) {
    pthread_t thread;
    bench_thread(&thread, serve, connection);
    pthread_join(thread, NULL);
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  struct connection *connections[BENCH_THREADS_MAX];
  for (int i = 0; i < bench.threads; i++) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) bench_fail("out of memory");
    connection->random = bench_seed((uint64_t)i + 1);
    connection->requests_per_generation = bench_scaled(&bench, 20000000, GENERATIONS) / GENERATIONS;
    /* The main thread makes the first blocks, as a server does at its start. */
    for (int slot = 0; slot < TABLE; slot++) {
      connection->sizes[slot] = (uint32_t)bench_between(&connection->random, 8, 1000);
      connection->blocks[slot] = malloc(connection->sizes[slot]);
      bench_mark(connection->blocks[slot], connection->sizes[slot], (uint32_t)slot);
    }
    connections[i] = connection;
  }
  bench_parallel(bench.threads, chain, connections, sizeof connections[0]);
  uint64_t checksum = 0;
  for (int i = 0; i < bench.threads; i++) {
    struct connection *connection = connections[i];
    checksum += connection->checksum;
    for (int slot = 0; slot < TABLE; slot++) {
      checksum += bench_check(connection->blocks[slot], connection->sizes[slot]);
      free(connection->blocks[slot]);
    }
    free(connection);
  }
  bench_finish(&bench, checksum);
  return 0;
}
