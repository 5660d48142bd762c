// The other way round: blocks from malloc go to __libc_free and __libc_realloc by name.
// covers: 9
#include "test.h"

extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

int main(void)
{
    static const size_t sizes[] = {1, 40, 1000, 3000, 30000, 100000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        char *block = malloc(bytes);
        CHECKED(block != NULL);
        fill_block(block, bytes, i);
        block = __libc_realloc(block, bytes + 100);
        CHECKED(block != NULL);
        check_block(block, bytes, i);
        __libc_free(block);
        __libc_free(malloc(bytes));
    }
    return 0;
}
