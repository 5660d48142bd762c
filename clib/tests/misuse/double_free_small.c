// A block of the small tier (up to 32 KiB) freed twice.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was already freed \(class 20480
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    void *block = malloc(20000), *other = malloc(20000);
    free(block);
    free(other);
    free(block);
    return 0;
}
