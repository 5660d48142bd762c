// A block of the normal tier (over 32 KiB) freed twice: stopped by Granary or by the libc, never
// passed over.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^(granary: free\({ptr}\): |free\(\): |double free|munmap_chunk)
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    void *block = malloc(50000);
    free(block);
    free(block);
    return 0;
}
