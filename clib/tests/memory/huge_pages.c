// With transparent huge pages on for the heap (as where the system says "always"), one survivor in
// 256 KiB: what the library says is resident and what the system says agree, and freed spans come
// back.
// covers: 26
// only: granary
// link: {granary}
#include "test.h"
#include "granary.h"

enum { BLOCKS = 200000, BLOCK_BYTES = 1000 };
static void *blocks[BLOCKS];

// Turns huge pages on for the mapping that holds address, as the setting "always" would.
static void huge_pages_on(uintptr_t address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECKED(maps != NULL);
    char line[512];
    unsigned long start, end;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= address && address < end)
            (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
    fclose(maps);
}

int main(void)
{
    void *probe = malloc(BLOCK_BYTES);
    huge_pages_on((uintptr_t)probe);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc(BLOCK_BYTES);
            memset(blocks[i], 1, BLOCK_BYTES);
        }
        if (round == 0) {
            huge_pages_on((uintptr_t)blocks[BLOCKS / 2]);
            for (size_t i = 0; i < BLOCKS; i++)
                free(blocks[i]);
            wait_ms(1500);
        }
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (i % 256 != 0)
            free(blocks[i]);
    wait_ms(2500);
    granary_stats stats;
    CHECKED(granary_get_stats(&stats, sizeof stats) == 0);
    size_t rss = rss_bytes();
    size_t told = stats.resident_bytes + stats.metadata_bytes;
    CHECK(rss < told + told / 2 + 16 * MIB, "%zu KiB in memory, the library knows of %zu KiB",
          rss / KIB, told / KIB);
    for (size_t i = 0; i < BLOCKS; i += 256)
        free(blocks[i]);
    size_t limit = 24 * MIB;
    expect_rss_within("after all was freed", limit, 4000);
    return 0;
}
