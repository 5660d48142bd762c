/* request_reply: blocks go in both directions between two threads.
 *
 * Models a client thread and a worker thread: the client allocates a request, the worker frees it
 * and allocates the reply, the client frees the reply. Up to 256 requests are under way. Each
 * thread allocates as much as it frees, but never frees what it made. After the symmetric half of
 * "xmalloc-test" and snmalloc's motivating case.
 */
#include "bench.h"

#define UNDER_WAY 256

struct packet {
  uint32_t tag;
  uint32_t size;
};

static struct bench_queue requests, replies;

static struct packet *make(size_t size, uint32_t tag) {
  struct packet *packet = malloc(size);
  if (packet == NULL) bench_fail("out of memory");
  packet->tag = tag;
  packet->size = (uint32_t)size;
  ((unsigned char *)packet)[size - 1] = (unsigned char)tag;
  return packet;
}

static uint64_t drop(struct packet *packet) {
  uint64_t value = bench_mix(packet->tag) + ((unsigned char *)packet)[packet->size - 1];
  free(packet);
  return value;
}

static void *work(void *argument) {
  uint64_t *checksum = argument;
  struct bench_random random = bench_seed(7);
  struct packet *request;
  while ((request = bench_take(&requests)) != NULL) {
    uint32_t tag = request->tag;
    *checksum += drop(request);
    bench_give(&replies, make(bench_skewed(&random, 16, 2048), tag ^ 0xffff));
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  struct bench_random random = bench_seed(8);
  long count = bench_scaled(&bench, 3000000, 1000);
  bench.threads = 2;
  pthread_t worker;
  uint64_t worker_checksum = 0, checksum = 0;
  bench_thread(&worker, work, &worker_checksum);
  long sent = 0, received = 0;
  while (received < count) {
    while (sent < count && sent - received < UNDER_WAY) {
      bench_give(&requests, make(bench_skewed(&random, 16, 512), (uint32_t)sent));
      sent++;
    }
    checksum += drop(bench_take(&replies));
    received++;
  }
  bench_give(&requests, NULL);
  pthread_join(worker, NULL);
  bench_finish(&bench, checksum + worker_checksum);
  return 0;
}
