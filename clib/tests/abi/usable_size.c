// malloc_usable_size: at least what was asked for, the same as long as the block lives, all of it
// writable, and a realloc to it stays where it is. Under _FORTIFY_SOURCE=3 the compiler knows what
// was asked for and stops a program that writes more, so a program must realloc first, as this one
// does.
// covers: 41
// also: GRANARY_DEBUG_ALLOC=1
// cflags: -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
#include "test.h"
#include <malloc.h>

int main(void)
{
    // In debug mode a block moves whenever its size changes, which finds stale pointers.
    int debug = getenv("GRANARY_DEBUG_ALLOC") != NULL;
    CHECKED(malloc_usable_size(NULL) == 0);
    for (size_t size = 0; size <= 200000; size += size < 3000 ? 1 : size < 40000 ? 97 : 7919) {
        char *block = malloc(size), *neighbour = malloc(size);
        CHECKED(block != NULL && neighbour != NULL);
        fill_block(neighbour, size, 3);
        size_t usable = malloc_usable_size(block);
        CHECK(usable >= size, "%zu bytes asked for, %zu usable", size, usable);
        memset(opaque_pointer(block), 0x5a, usable);
        CHECK(malloc_usable_size(block) == usable, "usable size changed from %zu", usable);
        if (usable == 0) {
            free(block);
            free(neighbour);
            continue; // realloc to 0 would free
        }
        char *same = realloc(block, usable);
        // The libc's own mapped blocks may move; what Granary serves itself must not.
        if (usable <= SMALL_BYTES_MAX && !debug)
            CHECK(same == block, "realloc to the usable %zu moved the block", usable);
        CHECKED(malloc_usable_size(same) >= usable);
        memset(same, 0x33, usable);
        check_block(neighbour, size, 3);
        free(same);
        free(neighbour);
    }
    return 0;
}
