// Leaks of the normal tier (over 32 KiB) are reported like others.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: leak: 2 blocks, 200000 bytes, allocated at:
// expect: ^granary: 2 blocks \(200000 bytes\) were never freed
#include <stdlib.h>

void *volatile last;

int main(void)
{
    for (volatile int i = 0; i < 2; i++) // one call, not two
        last = malloc(100000);
    free(malloc(50000));
    return 0;
}
