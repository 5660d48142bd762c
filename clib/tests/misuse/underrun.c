// A byte before a block is the last one of its neighbour: when that is watched, the fault is found
// there. The neighbour below is made by filling a stretch of the class.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: .*block ({ptr} )?was written (past its end|to after it was freed)
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    static char *blocks[200];
    for (int i = 0; i < 200; i++)
        blocks[i] = malloc(60);
    blocks[100][-1] = 'x';
    for (int i = 0; i < 200; i++)
        free(blocks[i]);
    return 0;
}
