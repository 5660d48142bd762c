// When the reserved range is full, small blocks go on from the system allocator, without a mapping
// each; they are counted; and when blocks in the range are freed, the range serves again.
// covers: 28
// only: granary
// link: {granary}
// env: GRANARY_RANGE=67108864
// also: GRANARY_ALLOC_RELEASE=0
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include "granary.h"

enum { BLOCKS = 300000, BLOCK_BYTES = 1000 };
static void *blocks[BLOCKS];

int main(void)
{
    size_t ours = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        CHECK(blocks[i] != NULL, "block %zu refused", i);
        fill_block(blocks[i], BLOCK_BYTES, i);
        ours += (size_t)granary_owns(blocks[i]);
    }
    granary_stats stats;
    CHECKED(granary_get_stats(&stats, sizeof stats) == 0);
    CHECK(stats.range_bytes == 64 * MIB, "the range has %llu bytes",
          (unsigned long long)stats.range_bytes);
    CHECK(ours > 40000 && ours < 70000, "%zu blocks lie in the range of 64 MiB", ours);
    CHECK(stats.overflow_mallocs >= BLOCKS - ours - 1000, "%llu counted as overflow",
          (unsigned long long)stats.overflow_mallocs);
    size_t mappings = mapping_count();
    CHECK(mappings <= 200, "%zu mappings", mappings);
    for (size_t i = 0; i < BLOCKS; i++)
        check_block(blocks[i], BLOCK_BYTES, i);
    for (size_t i = 0; i < BLOCKS; i += 2) {
        blocks[i] = realloc(blocks[i], BLOCK_BYTES * 2);
        CHECKED(blocks[i] != NULL);
        check_block(blocks[i], BLOCK_BYTES, i);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    void *again = malloc(300);
    CHECK(granary_owns(again), "the range is empty again and does not serve");
    free(again);
    return 0;
}
