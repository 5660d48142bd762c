// GRANARY_ALLOC_LIMIT refuses what would go over it with NULL and ENOMEM, in every tier and through
// every function; the program goes on, and after freeing gets memory again. The refusals are
// counted.
// covers: 39 46
// only: granary
// link: {granary}
// env: GRANARY_ALLOC_LIMIT=32M
#include "test.h"
#include "granary.h"
#include <malloc.h>

enum { BLOCKS_MAX = 200000 };
static void *blocks[BLOCKS_MAX];

static size_t fill_up(size_t bytes)
{
    size_t count = 0;
    while (count < BLOCKS_MAX) {
        errno = 0;
        void *block = malloc(bytes);
        if (!block)
            break;
        memset(block, 1, bytes);
        blocks[count++] = block;
    }
    CHECK(count < BLOCKS_MAX, "the limit never refused a block of %zu bytes", bytes);
    CHECK(errno == ENOMEM, "errno is %d", errno);
    return count;
}

int main(void)
{
    static const size_t sizes[] = {1000, 256, 20000, 100000, 4 << 20};
    granary_stats stats;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t bytes = sizes[s];
        size_t count = fill_up(bytes);
        size_t total = count * bytes;
        CHECK(total <= 32 * MIB, "%zu KiB handed out under a limit of 32 MiB", total / KIB);
        CHECK(total >= 20 * MIB, "refused at %zu KiB already, block size %zu", total / KIB, bytes);
        size_t more = 16 * MIB;
        CHECKED(opaque_pointer(malloc(more)) == NULL);
        CHECKED(opaque_pointer(calloc(more / 8, 8)) == NULL);
        CHECKED(opaque_pointer(realloc(NULL, more)) == NULL);
        CHECKED(opaque_pointer(aligned_alloc(4096, more)) == NULL);
        void *moved = opaque_pointer(realloc(blocks[0], 2 * more));
        CHECK(moved == NULL && errno == ENOMEM, "realloc over the limit");
        void *target = NULL;
        CHECKED(posix_memalign(&target, 64, more) == ENOMEM && target == NULL);
        for (size_t i = 0; i < count; i++)
            free(blocks[i]);
        malloc_trim(0);
    }
    CHECKED(granary_get_stats(&stats, sizeof stats) == 0);
    CHECK(stats.limit_bytes == 32 * MIB, "limit_bytes is %llu",
          (unsigned long long)stats.limit_bytes);
    CHECK(stats.limit_failures >= 30, "limit_failures is %llu",
          (unsigned long long)stats.limit_failures);
    return 0;
}
