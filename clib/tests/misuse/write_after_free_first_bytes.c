// The first bytes of a freed block are overwritten: where an allocator keeps its list, the list
// must not be followed.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: (malloc|exit): block {ptr} was written to after it was freed \(class 64, offset 0
// signal: SIGABRT
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *volatile block = malloc(60);
    free(block);
    memset(block, 0x41, 8);
    for (int i = 0; i < 100; i++)
        free(malloc(60));
    return 0;
}
