// mlockall(MCL_CURRENT | MCL_FUTURE) as root: the reserved range must not be filled with memory,
// and allocation goes on.
// covers: 30
// needs: root
#include "test.h"

int main(void)
{
    free(malloc(100));
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        CHECK(errno == EPERM || errno == ENOMEM, "mlockall: errno %d", errno);
        return 0; // a container without the right to lock
    }
    size_t before = rss_bytes();
    CHECK(before < 200 * MIB, "mlockall filled %zu MiB with memory", before / MIB);
    void *large = malloc(MIB);
    CHECKED(large != NULL);
    static void *blocks[10000];
    for (size_t i = 0; i < 10000; i++) {
        blocks[i] = malloc(1000);
        CHECKED(blocks[i] != NULL);
        memset(blocks[i], 1, 1000);
    }
    size_t rss = rss_bytes();
    CHECK(rss < before + 64 * MIB, "%zu MiB in memory for 11 MB, %zu before", rss / MIB,
          before / MIB);
    for (size_t i = 0; i < 10000; i++)
        free(blocks[i]);
    free(large);
    wait_ms(1500);
    void *again = calloc(1000, 1);
    CHECKED(is_zero(again, 1000));
    return 0;
}
