// The end of a block that realloc shrank in place is watched too.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was written past its end \(class [0-9]+, asked for 49 bytes
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(60);
    block = realloc(block, 49);
    block[49] = 'x';
    free(block);
    return 0;
}
