// Programs and old libraries call __libc_malloc and its relatives by name. A block from there can
// be freed and reallocated like any other.
// covers: 9
#include "test.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_memalign(size_t, size_t);
size_t malloc_usable_size(void *);

int main(void)
{
    static const size_t sizes[] = {1, 40, 1000, 3000, 30000, 100000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        char *block = __libc_malloc(bytes);
        CHECKED(block != NULL && malloc_usable_size(block) >= bytes);
        fill_block(block, bytes, i);
        free(block);

        block = __libc_calloc(1, bytes);
        CHECKED(block != NULL && is_zero(block, bytes));
        fill_block(block, bytes, i);
        block = realloc(block, bytes + 5000);
        CHECKED(block != NULL);
        check_block(block, bytes, i);
        free(block);

        block = __libc_memalign(256, bytes);
        CHECKED(block != NULL && (uintptr_t)block % 256 == 0);
        fill_block(block, bytes, i);
        free(block);
    }
    return 0;
}
