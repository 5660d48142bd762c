// The report arrives although the program closed its standard error before it ended, as the
// GNU tools do.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: leak: 1 block, 100 bytes, allocated at:
#include <stdlib.h>
#include <unistd.h>

static void *volatile last;

int main(void)
{
    last = malloc(100);
    close(STDERR_FILENO);
    return 0;
}
