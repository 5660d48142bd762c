// realloc keeps the content over every change of class and tier, upward and downward, and in place
// within a class.
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <malloc.h>

static void check_prefix(const unsigned char *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        CHECK(block[i] == (unsigned char)(i * 7 + i / 256), "byte %zu of %zu changed", i, bytes);
}

int main(void)
{
    // In debug mode a block moves whenever its size changes, which finds stale pointers.
    int debug = getenv("GRANARY_DEBUG_ALLOC") != NULL;
    uint64_t random = 7;
    unsigned char *block = NULL;
    size_t size = 0;
    for (int step = 0; step < 20000; step++) {
        uint64_t number = random_next(&random);
        size_t limit = number % 16 == 0 ? 300000 : number % 4 == 0 ? 40000 : 3000;
        size_t next = 1 + (number >> 8) % limit;
        size_t usable = malloc_usable_size(block);
        unsigned char *moved = realloc(block, next);
        CHECKED(moved != NULL);
        int near = next <= usable && next > usable - usable / 8;
        if (block && !debug && near && usable <= SMALL_BYTES_MAX)
            CHECK(moved == block, "realloc within %zu usable bytes to %zu moved", usable, next);
        block = moved;
        check_prefix(block, size < next ? size : next);
        for (size_t i = size; i < next; i++)
            block[i] = (unsigned char)(i * 7 + i / 256);
        size = next;
    }
    free(block);
    return 0;
}
