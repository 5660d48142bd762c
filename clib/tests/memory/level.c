// A level of 500 MB of small blocks is loaded and unloaded beside 200 MB that stay; after a second
// of waiting (with a frame every 16 ms) the process is within 5 % of where it was. Twice, the
// second time reusing what came back.
// covers: 23 24
// only: granary
#include "test.h"

enum { KEPT = 200000, LEVEL = 500000 };
static void *kept[KEPT], *level[LEVEL];

static size_t size_of(size_t i)
{
    static const size_t sizes[] = {512, 768, 1024, 1280, 1536};
    return sizes[i % 5];
}

int main(void)
{
    for (size_t i = 0; i < KEPT; i++) {
        kept[i] = malloc(size_of(i));
        memset(kept[i], 1, size_of(i));
    }
    memset(level, 0, sizeof level);
    size_t before = rss_bytes();
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < LEVEL; i++) {
            level[i] = malloc(size_of(i));
            memset(level[i], 2, size_of(i));
        }
        size_t loaded = rss_bytes();
        CHECKED(loaded > before + 400 * MIB);
        for (size_t i = 0; i < LEVEL; i++)
            free(level[i]);
        // One second, and the quarter second that may pass until the next sweep.
        for (int64_t end = now_ms() + 1400; now_ms() < end;) {
            free(malloc(700));
            usleep(16000);
        }
        size_t after = rss_bytes();
        CHECK(after <= before + before / 20,
              "round %d: %zu KiB before, %zu KiB loaded, %zu KiB after",
              round, before / KIB, loaded / KIB, after / KIB);
    }
    return 0;
}
