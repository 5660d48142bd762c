// The whole range as it comes (16 GiB), filled with blocks that the program does not touch: at most
// one page of each block is in memory, and the first requests beyond go on from the system
// allocator, without a mapping each.
// covers: 28
// only: granary
// link: {granary}
#include "test.h"
#include "granary.h"

int main(void)
{
    granary_stats stats;
    CHECKED(granary_get_stats(&stats, sizeof stats) == 0);
    // Needs a page for each block; a small machine cannot fill the range.
    size_t pages = stats.range_bytes / SMALL_BYTES_MAX * 5 * KIB;
    if (proc_field("/proc/meminfo", "MemAvailable") < 2 * pages)
        return 0;
    size_t count = stats.range_bytes / SMALL_BYTES_MAX + 4000, outside = 0;
    void **blocks = mmap(NULL, count * sizeof *blocks, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECKED(blocks != MAP_FAILED);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(SMALL_BYTES_MAX);
        CHECK(blocks[i] != NULL, "block %zu of %zu refused", i, count);
        outside += !granary_owns(blocks[i]);
        if (i % 65536 == 0) {
            size_t limit = i * 4096 + i * 1024 + 64 * MIB, rss = rss_bytes();
            CHECK(rss < limit, "%zu MiB in memory for %zu untouched blocks", rss / MIB, i);
        }
    }
    CHECK(outside >= 3000 && outside < 20000, "%zu blocks lie outside of the range", outside);
    CHECK(mapping_count() <= 200, "%zu mappings", mapping_count());
    for (int i = 0; i < 100000; i++)
        free(malloc(100 + (size_t)i % 3000));
    CHECK(mapping_count() <= 200, "%zu mappings", mapping_count());
    for (size_t i = 0; i < count; i++)
        free(blocks[i]);
    void *block = malloc(SMALL_BYTES_MAX);
    CHECK(granary_owns(block), "the range is empty again and does not serve");
    free(block);
    return 0;
}
