// Blocks go round a ring of threads, each freed by another thread than the one that made it, in
// batches large enough to pass through the shared pool, in every class; contents stay whole and
// memory flat.
// covers: 22 33
// also: GRANARY_DEBUG_ALLOC_STATS=1
// also: GRANARY_ALLOC_RELEASE=0
#include "test.h"

enum { THREADS = 4, BATCH = 1000, ROUNDS = 400 };

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void **batch;
};
static struct mailbox boxes[THREADS];

static size_t block_bytes(size_t i, int round)
{
    return 8 + (i * 37 + (size_t)round * 1001) % (i % 20 ? 1500 : 34000);
}

static void *run(void *argument)
{
    size_t index = (size_t)argument;
    struct mailbox *out = &boxes[(index + 1) % THREADS], *in = &boxes[index];
    for (int round = 0; round < ROUNDS; round++) {
        void **batch = malloc(BATCH * sizeof *batch);
        for (size_t i = 0; i < BATCH; i++) {
            size_t bytes = block_bytes(i, round);
            batch[i] = malloc(bytes);
            *(uint64_t *)batch[i] = i + index * 10000;
        }
        pthread_mutex_lock(&out->lock);
        while (out->batch)
            pthread_cond_wait(&out->changed, &out->lock);
        out->batch = batch;
        pthread_cond_broadcast(&out->changed);
        pthread_mutex_unlock(&out->lock);

        pthread_mutex_lock(&in->lock);
        while (!in->batch)
            pthread_cond_wait(&in->changed, &in->lock);
        batch = in->batch;
        in->batch = NULL;
        pthread_cond_broadcast(&in->changed);
        pthread_mutex_unlock(&in->lock);
        size_t from = (index + THREADS - 1) % THREADS;
        for (size_t i = 0; i < BATCH; i++) {
            CHECKED(*(uint64_t *)batch[i] == i + from * 10000);
            free(batch[i]);
        }
        free(batch);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&boxes[i].lock, NULL);
        pthread_cond_init(&boxes[i].changed, NULL);
    }
    for (size_t i = 0; i < THREADS; i++)
        start_thread(&threads[i], run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    size_t rss = rss_bytes();
    CHECK(rss < 100 * MIB, "%zu KiB in memory for at most 20 MB live", rss / KIB);
    return 0;
}
