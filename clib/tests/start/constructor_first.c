// A constructor of priority 101 runs before most others; it may allocate, free, set the environment
// and register exit handlers. What it allocated lives on in main, in atexit handlers and in
// destructors.
// covers: 4 5
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
// expect-out: ^destructor done
#include "test.h"

enum { BLOCKS = 500 };
static char *early[BLOCKS];

static void at_exit(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        check_block(early[i], i * 90, i);
        early[i] = realloc(early[i], i * 95 + 1);
    }
}

__attribute__((constructor(101))) static void construct(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        early[i] = malloc(i * 90);
        CHECKED(early[i] != NULL);
        fill_block(early[i], i * 90, i);
        free(malloc(i * 77));
    }
    CHECKED(setenv("GRANARY_TEST_EARLY", "set in a constructor", 1) == 0);
    CHECKED(atexit(at_exit) == 0);
}

__attribute__((destructor(101))) static void destroy(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        free(early[i]);
    void *last = malloc(70000);
    CHECKED(last != NULL);
    free(last);
    ssize_t written = write(1, "destructor done\n", 16);
    (void)written;
}

int main(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        check_block(early[i], i * 90, i);
    CHECKED(strcmp(getenv("GRANARY_TEST_EARLY"), "set in a constructor") == 0);
    return 0;
}
