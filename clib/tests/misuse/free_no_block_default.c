// free of an address inside of Granary's range where no span is, found without any switch.
// only: granary
// expect: ^granary: free\({ptr}\): pointer lies in Granary's range but is not a block
// signal: SIGABRT
#include <stdint.h>
#include <stdlib.h>

int main(void)
{
    // 256 MiB further on nothing has been used yet; the range is larger than that.
    uintptr_t address = (uintptr_t)malloc(64) + ((uintptr_t)256 << 20);
    free((void *)address);
    return 0;
}
