// A handler for SIGABRT of the program runs after the message and may itself allocate.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was already freed \(class 64
// expect: ^handler ran$
// expect-exit: 7
#include "test.h"
#include <signal.h>

static void handler(int number)
{
    (void)number;
    free(malloc(100));
    free(malloc(100000));
    ssize_t written = write(2, "handler ran\n", 12);
    (void)written;
    _exit(7);
}

int main(void)
{
    hang_limit_seconds(20);
    signal(SIGABRT, handler);
    void *block = malloc(60);
    free(block);
    free(block);
    return 0;
}
