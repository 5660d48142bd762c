// GRANARY_ALLOC_RELEASE=0 keeps the spans while the program waits, and prints nothing.
// only: granary
// link: {granary}
// env: GRANARY_ALLOC_RELEASE=0 GRANARY_DEBUG_ALLOC_RELEASE=1
// refuse: granary:
#include "test.h"
#include "granary.h"

enum { BLOCKS = 40000 };

int main(void)
{
    static void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(1000);
        memset(blocks[i], 1, 1000);
    }
    size_t full = rss_bytes();
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    wait_ms(2000);
    granary_idle();
    size_t rss = rss_bytes();
    CHECK(rss > full - full / 10, "%zu of %zu KiB in memory", rss / KIB, full / KIB);
    granary_stats stats;
    CHECKED(granary_get_stats(&stats, sizeof stats) == 0 && stats.spans_released == 0);
    return 0;
}
