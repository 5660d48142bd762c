// free keeps errno, also where it gives memory back to the system; successful calls of the others
// need not.
// covers: 37
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
// sanitize: yes
#include "test.h"
#include <malloc.h>

enum { BLOCKS = 3000 };

int main(void)
{
    static void *blocks[BLOCKS];
    static const size_t sizes[] = {1, 64, 2048, 10000, 32768, 40000, 200000, 40 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t count = sizes[s] > 100000 ? 8 : BLOCKS;
        for (size_t i = 0; i < count; i++) {
            blocks[i] = malloc(sizes[s]);
            CHECKED(blocks[i] != NULL);
        }
        for (size_t i = 0; i < count; i++) {
            errno = 4711;
            free(blocks[i]);
            CHECK(errno == 4711, "free of %zu bytes set errno to %d", sizes[s], errno);
        }
        errno = 4712;
        free(NULL);
        CHECKED(errno == 4712);
    }
    for (int i = 0; i < 100; i++) {
        void *aligned = NULL;
        errno = 4713;
        CHECKED(posix_memalign(&aligned, 4096, 100000) == 0);
        CHECK(errno == 4713, "posix_memalign set errno");
        errno = 4714;
        free(aligned);
        CHECKED(errno == 4714);
    }
    errno = 4715;
    malloc_trim(0);
    void *block = realloc(malloc(100), 50000);
    CHECKED(block != NULL);
    free(block);
    return 0;
}
