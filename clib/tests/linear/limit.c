// Blocks of linear allocators count towards the limit of the heap: beyond it requests fail, and what is there goes on.
// only: granary
// link: {granary}
// env: GRANARY_ALLOC_LIMIT=16M
#include "../test.h"
#include <granary.h>

int main(void)
{
    granary_linear_config config = {.block_bytes = 1 * MIB};
    granary_linear *linear = granary_linear_create(&config, sizeof config);
    CHECKED(linear != NULL);
    static void *all[100];
    int count = 0;
    errno = 0;
    while (count < 100 && (all[count] = granary_linear_alloc(linear, 1000 * KIB, 16)) != NULL)
        memset(all[count++], 1, 1000 * KIB);
    CHECK(count >= 8 && count <= 16 && errno == ENOMEM, "%d MiB fit into the limit", count);
    granary_linear_stats stats;
    CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0);
    CHECK(stats.reserved_bytes <= 16 * MIB && stats.full >= 1, "%lu bytes are reserved", stats.reserved_bytes);
    CHECKED(granary_linear_alloc(linear, 100, 16) != NULL); /* in the rest of a block */
    CHECKED(granary_linear_free(linear, all[0]) == 0);
    CHECKED(granary_linear_alloc(linear, 1000 * KIB, 16) != NULL);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
