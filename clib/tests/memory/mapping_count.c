// A million malloc(200 KiB)/free in turns, 300 MB of small blocks with holes that are given back,
// and large blocks in random order. The process keeps few mappings, far from vm.max_map_count.
// covers: 28
#include "test.h"
#include <malloc.h>

enum { BLOCKS = 300000 };
static void *blocks[BLOCKS];

int main(void)
{
    for (int i = 0; i < 1000000; i++)
        free(malloc(200 * KIB));
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(1000);
        memset(blocks[i], 1, 1000);
    }
    // Every second stretch of 256 KiB is freed and given back: holes all over the range.
    for (size_t i = 0; i < BLOCKS; i++)
        if (i / 256 % 2) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    malloc_trim(0);
    wait_ms(1300);
    size_t count = mapping_count();
    CHECK(count <= 200, "%zu mappings with holes in the heap", count);
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    uint64_t random = 3;
    static void *large[64];
    for (int i = 0; i < 20000; i++) {
        void **slot = &large[random_next(&random) % 64];
        free(*slot);
        *slot = malloc(40 * KIB + random_next(&random) % (400 * KIB));
        CHECKED(*slot != NULL);
    }
    for (int i = 0; i < 64; i++)
        free(large[i]);
    count = mapping_count();
    CHECK(count <= 200, "%zu mappings at the end", count);
    return 0;
}
