// calloc gives zeros, whether the block is fresh, was used and freed with rubbish in it, came
// through another thread, or lies in a span that was given back and taken again.
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_RELEASE=0
// also: GRANARY_ALLOC_SYSTEM=1
// sanitize: yes
#include "test.h"
#include <malloc.h>

enum { BLOCKS = 2000, ROUNDS = 6 };

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static void *free_all(void *unused)
{
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return unused;
}

int main(void)
{
    uint64_t random = 42;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            uint64_t number = random_next(&random);
            // 1 to 4 of 8 tiny, the others up to 64 KiB, some larger.
            size_t limit = number % 8 < 5 ? TINY_BYTES_MAX : SMALL_BYTES_MAX;
            if (number % 8 == 7)
                limit = 64 * KIB;
            sizes[i] = 1 + (number >> 8) % limit;
            blocks[i] = number & 16 ? calloc(sizes[i], 1) : calloc(1, sizes[i]);
            CHECKED(blocks[i] != NULL);
            CHECK(is_zero(blocks[i], sizes[i]), "round %d: calloc of %zu bytes is not zero", round,
                  sizes[i]);
            memset(blocks[i], 0xff, sizes[i]);
        }
        if (round % 2) {
            pthread_t thread;
            start_thread(&thread, free_all, NULL);
            join_thread(thread);
        } else {
            free_all(NULL);
        }
        if (round % 3 == 2)
            malloc_trim(0);
    }
    // Growing with realloc keeps the old bytes; nothing is promised about the new ones.
    char *grown = calloc(1, 100);
    for (size_t size = 100; size < 100000; size += size / 3) {
        grown = realloc(grown, size);
        CHECKED(grown != NULL && is_zero(grown, 100));
    }
    free(grown);
    return 0;
}
