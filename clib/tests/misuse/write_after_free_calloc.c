// A freed block is written to, and calloc would hand it out.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: (malloc|calloc|exit): block {ptr} was written to after it was freed \(class 1024, offset 990
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(1000);
    free(block);
    block[990] = 1;
    for (int i = 0; i < 100000; i++)
        if (calloc(1, 1000) == block)
            break;
    return 0;
}
