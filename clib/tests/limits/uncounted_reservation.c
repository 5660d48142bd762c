// What strict overcommit would count of the process (private writable mappings) stays near what it
// uses, as the reserved range is not writable before it is used. This is the part of
// overcommit_memory=2 that can be seen in any mode.
// covers: 29 30
#include "test.h"

// Bytes of mappings of this process that the system would have to back: private and writable. A
// mapping made with MAP_NORESERVE ("nr") is counted all the same in strict mode.
static size_t accountable_bytes(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECKED(maps != NULL);
    char line[512];
    size_t sum = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char flags[8];
        CHECKED(sscanf(line, "%lx-%lx %7s", &start, &end, flags) == 3);
        if (flags[1] == 'w' && flags[3] == 'p')
            sum += end - start;
    }
    fclose(maps);
    return sum;
}

int main(void)
{
    size_t at_start = accountable_bytes();
    CHECK(at_start < 64 * MIB, "%zu MiB of private writable mappings at the start", at_start / MIB);
    static void *blocks[50000];
    for (size_t i = 0; i < 50000; i++)
        blocks[i] = malloc(1000);
    size_t grown = accountable_bytes() - at_start;
    CHECK(grown < 50 * MIB + 70 * MIB, "%zu MiB more for 50 MB of blocks", grown / MIB);
    for (size_t i = 0; i < 50000; i++)
        free(blocks[i]);
    return 0;
}
