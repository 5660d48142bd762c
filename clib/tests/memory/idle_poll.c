// A process frees 400 MB and blocks in one poll for three seconds without any allocation: less than
// 10 % stays.
// covers: 23 24
// only: granary
#include "test.h"

enum { BLOCKS = 800000 };
static void *blocks[BLOCKS];

int main(void)
{
    uint64_t random = 1;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t bytes = 16 + random_next(&random) % 1000;
        blocks[i] = malloc(bytes);
        memset(blocks[i], 1, bytes);
    }
    size_t full = rss_bytes();
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    poll(NULL, 0, 3000);
    size_t idle = rss_bytes();
    CHECK(idle < full / 10, "%zu KiB of %zu KiB still in memory after 3 s in poll", idle / KIB,
          full / KIB);
    return 0;
}
