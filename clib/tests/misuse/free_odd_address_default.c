// free of an odd address in a block, found without any switch.
// only: granary
// expect: ^granary: free\(0x[0-9a-f]+\): pointer is inside a block, 3 bytes after its start 0x[0-9a-f]+ \(class 64
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(60);
    free(block + 3);
    return 0;
}
