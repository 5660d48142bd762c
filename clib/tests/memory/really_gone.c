// What is given back is gone from the process's memory at once, not merely marked as free to take
// (MADV_FREE), so that containers are not stopped for memory that nobody uses.
// covers: 27
// only: granary
#include "test.h"
#include <malloc.h>

enum { BLOCKS = 100000 };
static void *blocks[BLOCKS];

int main(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(1000);
        memset(blocks[i], 1, 1000);
    }
    size_t full = rss_bytes();
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    malloc_trim(0);
    size_t trimmed = rss_bytes();
    CHECK(trimmed < full / 5, "%zu KiB of %zu KiB in memory after malloc_trim", trimmed / KIB,
          full / KIB);
    size_t lazy = proc_field("/proc/self/smaps_rollup", "LazyFree");
    CHECK(lazy == 0, "%zu KiB are only marked as free", lazy / KIB);
    return 0;
}
