// GRANARY_DEBUG_ALLOC_STATS=1 counts what was never freed, without stacks.
// only: granary
// env: GRANARY_DEBUG_ALLOC_STATS=1
// expect: ^granary: 7 blocks \(700 bytes\) were never freed
// refuse: #0
#include <stdlib.h>

void *volatile last;

int main(void)
{
    for (int i = 0; i < 7; i++)
        last = malloc(100);
    free(malloc(5000));
    return 0;
}
