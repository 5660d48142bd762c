// free of an address in the middle of a block of the normal tier (over 32 KiB).
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\(0x[0-9a-f]+\): pointer is inside a block, 4096 bytes after its start
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(50000);
    free(block + 4096);
    return 0;
}
