// The same block freed twice in a row, found without any switch; the message says how to learn
// more.
// covers: 8
// only: granary
// expect: ^granary: free\({ptr}\): block was already freed \(class 64.*run with GRANARY_DEBUG_ALLOC=1 to see where
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    void *block = malloc(50);
    free(block);
    free(block);
    return 0;
}
