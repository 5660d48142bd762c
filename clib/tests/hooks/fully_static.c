// A fully static program (gcc -static). The libc's malloc comes along, since Granary passes large
// blocks on to it, and its names meet those of Granary: the first definition counts.
// library: none
// only: granary
// cflags: -static
// link: {static} -Wl,-z,muldefs
#include "granary.h"
#include "test.h"

int main(void)
{
    for (size_t size = 0; size < 200000; size += 117) {
        char *block = malloc(size);
        CHECKED(block != NULL && (size > SMALL_BYTES_MAX || granary_owns(block)));
        memset(block, 1, size);
        block = realloc(block, size + 100);
        free(block);
    }
    return 0;
}
