// Threads fill, free and end; and threads fill, end, and the main thread frees: memory comes back
// while the main thread waits, and malloc_trim gives back the rest.
// covers: 20 23
// only: granary
#include "test.h"
#include <malloc.h>

enum { THREADS = 8, BLOCKS = 20000, BLOCK_BYTES = 900 };
static void *blocks[THREADS][BLOCKS];

static void *fill(void *argument)
{
    void **mine = argument;
    for (size_t i = 0; i < BLOCKS; i++) {
        mine[i] = malloc(BLOCK_BYTES);
        memset(mine[i], 1, BLOCK_BYTES);
    }
    return NULL;
}
static void *fill_and_free(void *argument)
{
    void **mine = argument;
    fill(mine);
    for (size_t i = 0; i < BLOCKS; i++)
        free(mine[i]);
    return NULL;
}

static size_t run(void *(*what)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start_thread(&threads[i], what, blocks[i]);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    return rss_bytes();
}

int main(void)
{
    size_t total = (size_t)THREADS * BLOCKS * BLOCK_BYTES;
    memset(blocks, 0, sizeof blocks);
    size_t before = rss_bytes();
    run(fill_and_free);
    expect_rss_within("threads that freed all", before + total / 10, 4000);
    run(fill);
    for (int t = 0; t < THREADS; t++)
        for (size_t i = 0; i < BLOCKS; i++)
            free(blocks[t][i]);
    expect_rss_within("freed by the main thread", before + total / 10, 4000);
    size_t full = run(fill_and_free);
    malloc_trim(0);
    size_t trimmed = rss_bytes();
    CHECK(trimmed < before + total / 10, "malloc_trim leaves %zu KiB of %zu KiB", trimmed / KIB,
          full / KIB);
    return 0;
}
