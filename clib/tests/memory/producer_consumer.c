// 16 producers with bounded queues and one thread that never allocates and frees all: memory stays
// near what is live.
// covers: 22 33
#include "test.h"

enum { PRODUCERS = 16, QUEUE = 256, EACH = 40000, LIVE_BYTES_MAX = PRODUCERS * QUEUE * 1024 };

struct queue {
    void *blocks[QUEUE];
    size_t head, tail; // produced, consumed; guarded by lock
};
static struct queue queues[PRODUCERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, filled = PTHREAD_COND_INITIALIZER;
static size_t rss_settled, rss_peak;

static void *produce(void *argument)
{
    struct queue *queue = argument;
    uint64_t random = (uintptr_t)argument;
    for (size_t i = 0; i < EACH; i += 32) {
        void *batch[32];
        for (size_t k = 0; k < 32; k++) {
            size_t bytes = 16 + random_next(&random) % 1000;
            batch[k] = malloc(bytes);
            memset(batch[k], 1, bytes);
        }
        pthread_mutex_lock(&lock);
        while (queue->head - queue->tail > QUEUE - 32)
            pthread_cond_wait(&room, &lock);
        for (size_t k = 0; k < 32; k++)
            queue->blocks[queue->head++ % QUEUE] = batch[k];
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void take_all(void **taken, size_t *count)
{
    for (int q = 0; q < PRODUCERS; q++)
        while (queues[q].tail < queues[q].head)
            taken[(*count)++] = queues[q].blocks[queues[q].tail++ % QUEUE];
}

static void *consume(void *unused)
{
    static void *taken[PRODUCERS * QUEUE];
    for (size_t done = 0; done < (size_t)PRODUCERS * EACH;) {
        size_t count = 0;
        pthread_mutex_lock(&lock);
        take_all(taken, &count);
        if (count == 0)
            pthread_cond_wait(&filled, &lock);
        pthread_cond_broadcast(&room);
        pthread_mutex_unlock(&lock);
        for (size_t i = 0; i < count; i++)
            free(taken[i]);
        size_t before = done;
        done += count;
        size_t tenth = (size_t)PRODUCERS * EACH / 10;
        if (before / tenth != done / tenth) {
            size_t rss = rss_bytes();
            rss_peak = rss > rss_peak ? rss : rss_peak;
            if (!rss_settled)
                rss_settled = rss;
        }
    }
    return unused;
}

int main(void)
{
    size_t before = rss_bytes();
    pthread_t producers[PRODUCERS], consumer;
    start_thread(&consumer, consume, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        start_thread(&producers[i], produce, &queues[i]);
    for (int i = 0; i < PRODUCERS; i++)
        join_thread(producers[i]);
    join_thread(consumer);
    CHECK(rss_peak < before + LIVE_BYTES_MAX + LIVE_BYTES_MAX / 2 + 16 * MIB,
          "%zu KiB in memory for at most %d KiB live", rss_peak / KIB, LIVE_BYTES_MAX / 1024);
    CHECK(rss_peak < rss_settled + rss_settled / 2 + 4 * MIB, "memory grew from %zu to %zu KiB",
          rss_settled / KIB, rss_peak / KIB);
    return 0;
}
