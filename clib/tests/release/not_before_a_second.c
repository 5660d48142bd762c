// A span that has just become empty is not given back by the sweeps of the first second, and
// granary_trim gives back whatever its age.
// only: granary
// link: {granary}
#include "test.h"
#include "granary.h"

enum { BLOCKS = 40000 };

int main(void)
{
    static void *blocks[BLOCKS];
    static granary_stats before, after;
    int64_t begin = 0;
    int turn = 0;
    do {
        CHECK(turn++ < 20, "the machine is too busy for half a second to last half a second");
        for (size_t i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc(1000);
            memset(blocks[i], 1, 1000);
        }
        CHECKED(granary_get_stats(&before, sizeof before) == 0);
        begin = now_ms();
        for (size_t i = 0; i < BLOCKS; i++)
            free(blocks[i]);
        for (int i = 0; i < 2; i++)
            wait_ms(260);
        CHECKED(granary_get_stats(&after, sizeof after) == 0);
        // Only a turn within the second proves anything; a loaded machine may need another one.
    } while (now_ms() - begin > 950);
    CHECK(after.spans_released == before.spans_released, "%llu spans given back within a second",
          (unsigned long long)(after.spans_released - before.spans_released));
    size_t rss = rss_bytes();
    size_t bytes = granary_trim();
    CHECK(bytes > (size_t)BLOCKS * 1000 * 8 / 10, "granary_trim says %zu bytes", bytes);
    CHECK(rss_bytes() < rss - (size_t)BLOCKS * 1000 * 7 / 10, "granary_trim left %zu of %zu KiB",
          rss_bytes() / KIB, rss / KIB);
    CHECK(granary_trim() == 0, "a second granary_trim found something");
    return 0;
}
