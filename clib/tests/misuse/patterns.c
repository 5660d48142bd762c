// In debug mode new blocks are filled with a pattern, freed ones with another, calloc still gives
// zeros, and realloc keeps the content.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
#include "test.h"

int main(void)
{
    for (size_t bytes = 32; bytes < 30000; bytes *= 3) {
        unsigned char *volatile block = malloc(bytes);
        unsigned char fresh = block[0];
        CHECK(fresh != 0, "new blocks are not filled");
        for (size_t i = 0; i < bytes; i++)
            CHECK(block[i] == fresh, "byte %zu of a new block is 0x%02x, not 0x%02x", i, block[i],
                  fresh);
        unsigned char *volatile zero = calloc(1, bytes);
        CHECKED(is_zero(zero, bytes));
        memset(block, 7, bytes);
        block = realloc(block, bytes + bytes / 2);
        for (size_t i = 0; i < bytes; i++)
            CHECKED(block[i] == 7);
        unsigned char *volatile freed = block;
        free(block);
        unsigned char dead = freed[20];
        CHECK(dead != 7 && dead != fresh, "freed blocks are not filled");
        for (size_t i = 16; i < bytes; i++)
            CHECK(freed[i] == dead, "byte %zu of a freed block is 0x%02x", i, freed[i]);
        free(zero);
    }
    return 0;
}
