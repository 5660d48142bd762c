// A block freed again after many others.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was already freed \(class 64
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    static void *blocks[2000];
    for (int i = 0; i < 2000; i++)
        blocks[i] = malloc(60);
    for (int i = 0; i < 2000; i++)
        free(blocks[i]);
    free(blocks[5]);
    return 0;
}
