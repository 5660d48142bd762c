// 100,000 blocks of 64 x k bytes aligned to 64 take at most 1.3 times what was asked for.
// covers: 34
#include "test.h"

enum { BLOCKS = 100000 };

int main(void)
{
    static void *blocks[BLOCKS];
    memset(blocks, 0, sizeof blocks);
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = opaque_pointer(NULL);
    size_t before = rss_bytes(), asked = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t bytes = 64 * (1 + i % 30);
        blocks[i] = aligned_alloc(64, bytes);
        CHECKED(blocks[i] != NULL && (uintptr_t)blocks[i] % 64 == 0);
        memset(blocks[i], 1, bytes);
        asked += bytes;
    }
    size_t used = rss_bytes() - before;
    CHECK(used * 10 <= asked * 13, "%zu KiB in memory for %zu KiB", used / KIB, asked / KIB);
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return 0;
}
