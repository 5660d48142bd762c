// mallinfo2, mallinfo, malloc_info, malloc_stats, malloc_trim and mallopt speak of the heap in use,
// not of one of the libc that nobody uses.
// covers: 45
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <malloc.h>

enum { BLOCKS = 20000, BLOCK_BYTES = 1000 };
static void *blocks[BLOCKS];

static size_t near(size_t value, size_t want)
{
    return value >= want - want / 10 && value <= want + want / 3;
}

static char *info_text(void)
{
    static char text[1 << 20];
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECKED(stream != NULL);
    CHECK(malloc_info(1, stream) != 0, "malloc_info takes options it does not know");
    CHECKED(malloc_info(0, stream) == 0);
    CHECKED(fclose(stream) == 0);
    return text;
}

int main(void)
{
    struct mallinfo2 before = mallinfo2();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    void *large = malloc(10 << 20);
    memset(large, 1, 10 << 20);
    struct mallinfo2 full = mallinfo2();
    size_t want = (size_t)BLOCKS * BLOCK_BYTES + (10 << 20);
    size_t grown = full.uordblks + full.hblkhd - before.uordblks - before.hblkhd;
    CHECK(near(grown, want), "mallinfo2 counts %zu bytes more in use, not %zu", grown, want);
    CHECK(full.arena + full.hblkhd >= full.uordblks, "arena %zu + hblkhd %zu < uordblks %zu",
          full.arena, full.hblkhd, full.uordblks);
    struct mallinfo old = mallinfo();
    size_t old_in_use = (unsigned)old.uordblks;
    CHECK(old_in_use == full.uordblks || near(old_in_use, full.uordblks),
          "mallinfo %d, mallinfo2 %zu", old.uordblks, full.uordblks);

    char *text = info_text();
    CHECK(strncmp(text, "<malloc version=\"", 17) == 0, "malloc_info begins with %.40s", text);
    CHECK(strstr(text, "</malloc>") != NULL, "malloc_info has no end");
    size_t system = 0;
    for (char *at = text; (at = strstr(at, "<system type=\"current\" size=\"")) != NULL; at++) {
        size_t value = strtoull(at + 29, NULL, 10);
        if (value > system)
            system = value;
    }
    CHECK(system >= (size_t)BLOCKS * BLOCK_BYTES, "malloc_info knows of %zu bytes only", system);

    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    free(large);
    struct mallinfo2 after = mallinfo2();
    CHECK(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + want / 10,
          "mallinfo2 still counts %zu bytes in use", after.uordblks);
    CHECK(after.fordblks > 0, "nothing is free after freeing all");

    size_t rss = rss_bytes();
    CHECK(malloc_trim(0) == 1, "malloc_trim gave nothing back of %d MB",
          BLOCKS * BLOCK_BYTES / 1000000);
    CHECK(rss_bytes() < rss - (size_t)BLOCKS * BLOCK_BYTES / 2,
          "malloc_trim: %zu KiB before, %zu after",
          rss / KIB, rss_bytes() / KIB);

    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1, "mallopt refuses M_MMAP_THRESHOLD");
    CHECK(mallopt(M_TRIM_THRESHOLD, 1 << 20) == 1, "mallopt refuses M_TRIM_THRESHOLD");
    CHECK(mallopt(M_ARENA_MAX, 1) == 1, "mallopt refuses M_ARENA_MAX");
    return 0;
}
