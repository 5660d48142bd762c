// Every block is aligned to 16 bytes whatever its size, also 0 to 8 bytes where others give 8, and
// aligned requests up to 2^30 get what they ask for, are writable to the end and can be freed and
// reallocated.
// covers: 34 40
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <malloc.h>

static void expect_aligned(void *block, size_t alignment, size_t size)
{
    CHECK(block != NULL, "no block of %zu bytes aligned to %zu: errno %d", size, alignment, errno);
    CHECK((uintptr_t)block % alignment == 0, "%p of %zu bytes, not aligned to %zu", block, size,
          alignment);
}

static void every_size(void)
{
    static void *kept[64];
    for (size_t size = 0; size <= 40000; size++) {
        void *block = malloc(size);
        expect_aligned(block, 16, size);
        memset(block, 0xee, size);
        void **slot = &kept[size % 64];
        free(*slot);
        *slot = block;
        if (size % 7 == 0) {
            void *zeroed = calloc(1, size);
            expect_aligned(zeroed, 16, size);
            zeroed = realloc(zeroed, size * 2 + 1);
            expect_aligned(zeroed, 16, size * 2 + 1);
            free(zeroed);
        }
    }
    for (size_t i = 0; i < 64; i++)
        free(kept[i]);
}

static void every_alignment(void)
{
    static const size_t sizes[] = {0, 1, 8, 16, 17, 24, 100, 1000, 2048, 4095, 20000, 32768,
        32769, 100000};
    for (unsigned bits = 3; bits <= 30; bits++) {
        size_t alignment = (size_t)1 << bits;
        size_t at_least = alignment < 16 ? 16 : alignment;
        void *blocks[3][sizeof sizes / sizeof *sizes];
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            CHECKED(posix_memalign(&blocks[0][i], alignment, sizes[i]) == 0);
            blocks[1][i] = aligned_alloc(alignment, sizes[i]);
            blocks[2][i] = memalign(alignment, sizes[i]);
            for (int form = 0; form < 3; form++) {
                expect_aligned(blocks[form][i], at_least, sizes[i]);
                CHECKED(malloc_usable_size(blocks[form][i]) >= sizes[i]);
                fill_block(blocks[form][i], sizes[i], bits + i);
            }
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int form = 0; form < 3; form++)
                check_block(blocks[form][i], sizes[i], bits + i);
            free(blocks[0][i]);
            void *grown = realloc(blocks[1][i], sizes[i] + 5000);
            expect_aligned(grown, 16, sizes[i] + 5000);
            free(grown);
            void *shrunk = realloc(blocks[2][i], sizes[i] / 2 + 1);
            expect_aligned(shrunk, 16, sizes[i] / 2 + 1);
            free(shrunk);
        }
    }
}

int main(void)
{
    every_size();
    every_alignment();
    for (size_t size = 0; size < 20000; size += 333) {
        void *pages = valloc(size), *whole = pvalloc(size);
        expect_aligned(pages, 4096, size);
        expect_aligned(whole, 4096, size);
        CHECKED(malloc_usable_size(whole) >= ((size + 4095) & ~(size_t)4095));
        free(pages);
        free(whole);
    }
    return 0;
}
