// realloc(p, 0) frees and returns NULL, as glibc documents it; realloc(NULL, 0) is malloc(0), which
// gives a block.
// covers: 36
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
// sanitize: yes
#include "test.h"

int main(void)
{
    static const size_t sizes[] = {0, 1, 64, 2048, 2049, 32768, 32769, 1 << 20};
    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            void *block = malloc(sizes[i]);
            CHECKED(block != NULL);
            CHECK(realloc(block, opaque_size(0)) == NULL, "realloc(p, 0) of %zu bytes", sizes[i]);
            block = malloc(sizes[i]);
            CHECK(reallocarray(block, opaque_size(0), 8) == NULL, "reallocarray(p, 0, 8)");
            block = malloc(sizes[i]);
            CHECK(reallocarray(block, 8, opaque_size(0)) == NULL, "reallocarray(p, 8, 0)");
        }
    }
    void *first = realloc(NULL, opaque_size(0)), *second = reallocarray(NULL, opaque_size(0), 7);
    CHECK(first != NULL && second != NULL && first != second, "realloc(NULL, 0) gives a block");
    void *third = malloc(opaque_size(0)), *fourth = calloc(opaque_size(0), 3);
    CHECK(third != NULL && fourth != NULL && third != fourth, "malloc(0) gives a block");
    free(first);
    free(second);
    free(third);
    free(fourth);
    free(NULL);
    return 0;
}
