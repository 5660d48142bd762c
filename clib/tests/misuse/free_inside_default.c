// free of an address in the middle of a block is found without any switch.
// only: granary
// expect: ^granary: free\({ptr}\): pointer is inside a block, 32 bytes after its start {ptr} \(class 80.*run with GRANARY_DEBUG_ALLOC=1 to see where
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(80);
    free(block + 32);
    return 0;
}
