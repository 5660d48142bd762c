// free of an odd address in a block.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): pointer is inside a block, 3 bytes after its start {ptr} \(class 64
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(60);
    free(block + 3);
    return 0;
}
