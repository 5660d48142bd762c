// 10,000 threads that allocate, pass a block on and end: memory stays flat, caches are reused,
// nothing is lost.
// covers: 20 35
// also: GRANARY_DEBUG_ALLOC_STATS=1
#include "test.h"

enum { THREADS = 10000, AT_ONCE = 8 };
static void *passed[AT_ONCE];

static void *run(void *argument)
{
    void **slot = argument;
    void *blocks[40];
    for (size_t i = 0; i < 40; i++) {
        blocks[i] = malloc(1 + i * i * 20);
        fill_block(blocks[i], 1 + i * i * 20, i);
    }
    free(*slot);
    *slot = blocks[7];
    for (size_t i = 0; i < 40; i++) {
        check_block(blocks[i], 1 + i * i * 20, i);
        if (i != 7)
            free(blocks[i]);
    }
    return NULL;
}

int main(void)
{
    size_t settled = 0;
    for (int done = 0; done < THREADS; done += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            start_thread(&threads[i], run, &passed[i]);
        for (int i = 0; i < AT_ONCE; i++)
            join_thread(threads[i]);
        if (done == THREADS / 10)
            settled = rss_bytes();
    }
    size_t rss = rss_bytes();
    CHECK(rss < settled + settled / 2 + 2 * MIB, "%zu KiB after %d threads, %zu KiB after a tenth",
          rss / KIB, THREADS, settled / KIB);
    for (int i = 0; i < AT_ONCE; i++)
        free(passed[i]);
    return 0;
}
