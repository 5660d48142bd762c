// A child copies only the pages it writes: reading, waiting (with release sweeps) and allocating a
// little leave the parent's pages shared; freeing half of the blocks dirties at most that half.
// covers: 32
#include "test.h"

enum { BLOCKS = 200000, BLOCK_BYTES = 500 };
static char *blocks[BLOCKS];

int main(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    size_t total = (size_t)BLOCKS * BLOCK_BYTES;
    pid_t pid = fork();
    if (pid == 0) {
        const char *smaps = "/proc/self/smaps_rollup";
        size_t sum = 0;
        for (size_t i = 0; i < BLOCKS; i++)
            sum += (size_t)blocks[i][0];
        CHECKED(sum == BLOCKS);
        for (int i = 0; i < 6; i++) {
            free(malloc(1000));
            wait_ms(300);
        }
        size_t dirty = proc_field(smaps, "Private_Dirty");
        CHECK(dirty < total / 20, "%zu KiB copied by a child that only waits", dirty / KIB);
        for (size_t i = 0; i < BLOCKS / 2; i++)
            free(blocks[i]);
        dirty = proc_field(smaps, "Private_Dirty");
        CHECK(dirty < total / 2 + total / 5, "%zu of %zu KiB copied for freeing half", dirty / KIB,
              total / KIB);
        _exit(0);
    }
    expect_child_ok(pid, "child");
    return 0;
}
