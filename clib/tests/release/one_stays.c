// One empty span a class stays, so that a program that frees all and allocates again in turns does
// not give a span back and take it again each time. The others come back, read as zero again and
// are used first: the heap does not move on to new addresses.
// only: granary
// link: {granary}
// env: GRANARY_DEBUG_ALLOC_RELEASE=1
#include "test.h"
#include "granary.h"

enum { BLOCKS = 6400, BLOCK_BYTES = 1024 };
static void *blocks[BLOCKS];

static void get(granary_stats *stats)
{
    CHECKED(granary_get_stats(stats, sizeof *stats) == 0);
}

static const granary_class_stats *class_of(const granary_stats *stats, size_t bytes)
{
    for (size_t i = 0; i < GRANARY_CLASS_COUNT; i++)
        if (stats->classes[i].block_bytes == bytes)
            return &stats->classes[i];
    FAIL("no class of %zu bytes", bytes);
}

int main(void)
{
    static granary_stats full, idle, again;
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        memset(blocks[i], 0xee, BLOCK_BYTES);
    }
    get(&full);
    uint64_t spans = class_of(&full, BLOCK_BYTES)->spans;
    CHECKED(spans >= 100);
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    for (int i = 0; i < 8; i++)
        wait_ms(300);
    get(&idle);
    uint64_t left = class_of(&idle, BLOCK_BYTES)->spans;
    CHECK(left == 1, "%llu of %llu spans are left, expected one", (unsigned long long)left,
          (unsigned long long)spans);
    CHECKED(idle.spans_released >= spans - 1);
    CHECKED(idle.resident_bytes < full.resident_bytes / 2);

    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = calloc(1, BLOCK_BYTES);
        CHECK(is_zero(blocks[i], BLOCK_BYTES), "block %zu from a released span is not zero", i);
        memset(blocks[i], 0xdd, BLOCK_BYTES);
    }
    get(&again);
    CHECK(again.used_peak_bytes == full.used_peak_bytes,
          "the heap took new addresses: %llu bytes used, %llu before",
          (unsigned long long)again.used_peak_bytes, (unsigned long long)full.used_peak_bytes);
    // One block of the class in turns with waiting: the span that stayed serves, nothing is taken.
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    for (int i = 0; i < 5; i++)
        wait_ms(300);
    get(&idle);
    for (int turn = 0; turn < 5; turn++) {
        void *block = malloc(BLOCK_BYTES);
        free(block);
        wait_ms(260);
    }
    get(&again);
    CHECK(class_of(&again, BLOCK_BYTES)->spans_taken == class_of(&idle, BLOCK_BYTES)->spans_taken,
          "spans were taken in turns");
    return 0;
}
