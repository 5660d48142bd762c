// One byte is written past a block of the normal tier (over 32 KiB).
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\(0x[0-9a-f]+\): block was written past its end \(.*asked for 50000 bytes
// expect: ^  allocated at:
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(50000);
    block[50000] = 'x';
    free(block);
    return 0;
}
