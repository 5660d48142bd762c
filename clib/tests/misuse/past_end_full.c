// One byte is written past a block whose size is exactly that of a class.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was written past its end \(class [0-9]+, asked for 64 bytes
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(64);
    block[64] = 'x';
    free(block);
    return 0;
}
