// free keeps errno even when the system cannot take memory back, because the process has used up
// its mappings and the munmap that would split one fails.
// covers: 28 37
#include "test.h"
#include <sys/resource.h>

enum { BLOCKS = 512 };

// Uses up the mappings: pages of alternating protection cannot be merged.
static void exhaust_mappings(void)
{
    size_t pages = 140000;
    char *area = mmap(NULL, pages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);
    CHECKED(area != MAP_FAILED);
    for (size_t page = 0; page < pages; page += 2)
        if (mprotect(area + page * 4096, 4096, PROT_READ | PROT_WRITE) != 0)
            return;
    FAIL("the mappings did not run out");
}

int main(void)
{
    char text[64];
    read_text("/proc/sys/vm/max_map_count", text, sizeof text);
    if (atoi(text) > 130000)
        return 0; // too many for this test; the machine has been set up to avoid the case
    static void *blocks[BLOCKS];
    static const size_t sizes[] = {100, 20000, 300000};
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(sizes[i % 3]);
        CHECKED(blocks[i] != NULL);
        memset(blocks[i], 1, sizes[i % 3]);
    }
    exhaust_mappings();
    for (size_t i = 0; i < BLOCKS; i++) {
        errno = 4711;
        free(blocks[i]);
        CHECK(errno == 4711, "free of %zu bytes set errno to %d", sizes[i % 3], errno);
    }
    for (int i = 0; i < 10000; i++) {
        void *block = malloc(64 + (size_t)i % 1000);
        CHECK(block != NULL, "small blocks must still be there");
        free(block);
    }
    return 0;
}
