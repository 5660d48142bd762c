// 64 threads in turn each make a burst of 100 MB of mixed sizes and free it but for one small block
// a MiB: what other allocators keep per thread pool. After waiting little more than the survivors'
// pages stays.
// covers: 23 25
// only: granary
#include "test.h"

enum { THREADS = 64, BURST = 100 << 20 };
static void *survivors[THREADS * 128];
static size_t survivor_count;

static void *burst(void *argument)
{
    uint64_t random = (uintptr_t)argument + 1;
    size_t capacity = 200000, count = 0, total = 0, since = 0;
    void **blocks = malloc(capacity * sizeof *blocks);
    while (total < BURST && count < capacity) {
        uint64_t number = random_next(&random);
        size_t bytes = 16 + (number >> 8) % (number % 8 ? 1000 : 30000);
        blocks[count] = malloc(bytes);
        memset(blocks[count++], 1, bytes);
        total += bytes;
        since += bytes;
        if (since > MIB) {
            since = 0;
            survivors[survivor_count] = malloc(16);
            memset(survivors[survivor_count++], 2, 16);
        }
    }
    while (count > 0)
        free(blocks[--count]);
    free(blocks);
    return NULL;
}

int main(void)
{
    size_t before = rss_bytes(), peak = 0;
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        start_thread(&thread, burst, (void *)i);
        join_thread(thread);
        size_t rss = rss_bytes();
        peak = rss > peak ? rss : peak;
    }
    CHECK(peak < before + 200 * MIB, "bursts of 100 MB in turn reached %zu KiB", peak / KIB);
    expect_rss_within("after the bursts", before + 20 * MIB, 5000);
    return 0;
}
