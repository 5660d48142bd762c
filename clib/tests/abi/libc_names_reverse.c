// The libc's own names all the way: what comes from __libc_malloc goes to __libc_realloc and
// __libc_free while malloc and free serve the rest. What comes from malloc must not go there: these
// names stay the libc's, because Granary reaches the libc's allocator by them, and they do not know
// its blocks (docs/compatibility.md, row 9).
// covers: 9
#include "test.h"

extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

int main(void)
{
    static const size_t sizes[] = {1, 40, 1000, 3000, 30000, 100000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        char *libcs = __libc_malloc(bytes), *ours = malloc(bytes);
        CHECKED(libcs != NULL && ours != NULL);
        fill_block(libcs, bytes, i);
        fill_block(ours, bytes, i + 50);
        libcs = __libc_realloc(libcs, bytes + 100);
        CHECKED(libcs != NULL);
        check_block(libcs, bytes, i);
        check_block(ours, bytes, i + 50);
        __libc_free(libcs);
        check_block(ours, bytes, i + 50);
        free(ours);
    }
    return 0;
}
