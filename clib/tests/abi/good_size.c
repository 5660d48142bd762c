// granary_good_size says what a request really gets, and granary_owns which tier served it.
// only: granary
// link: {granary}
#include "test.h"
#include "granary.h"
#include <malloc.h>

int main(void)
{
    for (size_t size = 0; size <= SMALL_BYTES_MAX; size++) {
        size_t good = granary_good_size(size);
        CHECK(good >= size && good >= 16, "good size of %zu is %zu", size, good);
        CHECK(granary_good_size(good) == good, "good size of %zu is no fixed point", good);
        CHECK(size < 16 || good <= size + size / 4 + 16, "%zu bytes would get %zu", size, good);
        if (size % 61 == 0) {
            void *block = malloc(size);
            CHECK(malloc_usable_size(block) == good, "%zu bytes: good %zu, usable %zu", size, good,
                  malloc_usable_size(block));
            CHECK(granary_owns(block) == 1, "a block of %zu bytes is not Granary's", size);
            free(block);
        }
    }
    void *large = malloc(SMALL_BYTES_MAX * 40);
    int on_stack;
    CHECKED(granary_good_size(SMALL_BYTES_MAX * 40) >= SMALL_BYTES_MAX * 40);
    CHECKED(granary_owns(NULL) == 0 && granary_owns(&on_stack) == 0);
    CHECKED(granary_owns((void *)&main) == 0);
    CHECKED(strspn(granary_version(), "0123456789.") == strlen(granary_version()));
    CHECKED(strchr(granary_version(), '.') != NULL);
    free(large);
    return 0;
}
