// A fully static program (gcc -static) with the static library, or the linker's refusal is what
// users would meet.
// library: none
// only: granary
// cflags: -static -Wno-error
// link: {static}
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
