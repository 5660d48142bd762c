// A level of small blocks of all sizes is loaded and unloaded: after a second of waiting the process has what it had
// before, but for a twentieth. A small level first, so that the code which all of this runs through is in memory.
// only: granary
#include "test.h"

struct asset {
    struct asset *next;
};

static uint64_t state = 88172645463325252u;

static size_t next_size(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return 16 + state % 1000;
}

static size_t resident(void) { return proc_field("/proc/self/smaps_rollup", "Rss"); }

static size_t cycle(size_t bytes)
{
    struct asset *level = NULL, *asset;
    for (size_t loaded = 0; loaded < bytes;) {
        size_t size = next_size();
        asset = malloc(size);
        CHECKED(asset != NULL);
        memset(asset, 0x5a, size);
        asset->next = level;
        level = asset;
        loaded += size;
    }
    size_t most = resident();
    for (; (asset = level) != NULL; free(asset))
        level = asset->next;
    for (int i = 0; i < 5; i++)
        wait_ms(300);
    return most;
}

int main(void)
{
    cycle(64 * KIB);
    size_t before = resident();
    size_t loaded = cycle(500 * MIB);
    CHECK(loaded > 500 * MIB, "only %zu MiB were resident", loaded / MIB);
    size_t after = resident();
    CHECK(after <= before + before / 20, "%zu KiB resident, %zu KiB before", after / KIB, before / KIB);
    return 0;
}
