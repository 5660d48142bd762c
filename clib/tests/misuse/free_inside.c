// free of an address in the middle of a block.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): pointer is inside a block, 16 bytes after its start {ptr} \(class 64
// expect: ^  allocated at:
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(60);
    free(block + 16);
    return 0;
}
