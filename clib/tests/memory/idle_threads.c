// 500 threads that allocated 1 MB once, freed it and now sleep keep little: 2 MB and 16 KiB a
// thread over what their stacks take.
// covers: 35
// only: granary
#include "test.h"

enum { THREADS = 500, BLOCKS = 1000, BLOCK_BYTES = 1000 };
static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int heap_used; // guarded by lock
static int use_heap;

static void *run(void *unused)
{
    if (use_heap) {
        void *blocks[BLOCKS];
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc(BLOCK_BYTES);
            memset(blocks[i], 1, BLOCK_BYTES);
        }
        for (size_t i = 0; i < BLOCKS; i++)
            free(blocks[i]);
        heap_used++;
        pthread_mutex_unlock(&lock);
    } else {
        volatile char stack[BLOCKS * sizeof(void *)];
        memset((char *)stack, 1, sizeof stack);
    }
    pthread_barrier_wait(&all);
    wait_ms(2000);
    pthread_barrier_wait(&all);
    return unused;
}

// The bytes in memory while all threads sleep, at the end of their waiting.
static size_t rss_with_threads(void)
{
    static pthread_t threads[THREADS];
    CHECKED(pthread_barrier_init(&all, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++)
        start_thread(&threads[i], run, NULL);
    pthread_barrier_wait(&all);
    wait_ms(1900);
    size_t rss = rss_bytes();
    pthread_barrier_wait(&all);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    return rss;
}

int main(void)
{
    use_heap = 0;
    size_t without = rss_with_threads();
    use_heap = 1;
    size_t with = rss_with_threads();
    CHECKED(heap_used == THREADS);
    size_t limit = without + 2 * MIB + THREADS * 16 * KIB;
    CHECK(with <= limit, "%zu KiB in memory, %zu KiB without use of the heap", with / KIB,
          without / KIB);
    return 0;
}
