// The less known functions work: reallocarray, cfree, valloc, pvalloc, free_sized and
// free_aligned_sized of C23.
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <malloc.h>

typedef void free_function(void *);
typedef void free_sized_function(void *, size_t);
typedef void free_aligned_sized_function(void *, size_t, size_t);

int main(void)
{
    // glibc 2.36 exports no cfree for new programs and has no free_sized, so all are looked up.
    free_function *cfree_found = (free_function *)find_function("cfree");
    free_sized_function *sized = (free_sized_function *)find_function("free_sized");
    free_aligned_sized_function *aligned =
        (free_aligned_sized_function *)find_function("free_aligned_sized");
    for (size_t size = 0; size < 100000; size += 1 + size / 5) {
        char *array = reallocarray(NULL, size + 1, 3);
        CHECKED(array != NULL && malloc_usable_size(array) >= (size + 1) * 3);
        fill_block(array, (size + 1) * 3, 9);
        array = reallocarray(array, size + 1, 5);
        CHECKED(array != NULL);
        check_block(array, (size + 1) * 3, 9);
        free(array);
        if (cfree_found)
            cfree_found(malloc(size));
        if (sized) {
            sized(malloc(size), size);
            sized(NULL, size);
        }
        for (size_t alignment = 16; aligned && alignment <= 8192; alignment *= 2) {
            void *block = aligned_alloc(alignment, size);
            CHECKED((uintptr_t)block % alignment == 0);
            aligned(block, alignment, size);
        }
        if (aligned)
            aligned(NULL, 64, size);
    }
    return 0;
}
