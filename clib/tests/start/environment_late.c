// The switches are read once, when the program starts: setting them in the program changes nothing
// for it, and changing or emptying the environment does no harm.
// covers: 5
// only: granary
// link: {granary}
// refuse: granary:
#include "test.h"
#include "granary.h"

int main(void)
{
    CHECKED(setenv("GRANARY_ALLOC_LIMIT", "1M", 1) == 0);
    CHECKED(setenv("GRANARY_DEBUG_ALLOC", "1", 1) == 0);
    CHECKED(setenv("GRANARY_VERBOSE", "1", 1) == 0);
    void *block = malloc(5 * MIB), *small = malloc(100);
    CHECKED(block != NULL && granary_owns(small));
    free(block);
    clearenv();
    environ = NULL;
    for (size_t size = 0; size < 100000; size += 111)
        free(malloc(size));
    free(small);
    return 0;
}
