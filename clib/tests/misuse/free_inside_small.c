// free of an address in the middle of a block of the small tier.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): pointer is inside a block, 4096 bytes after its start {ptr} \(class 20480
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(20000);
    free(block + 4096);
    return 0;
}
