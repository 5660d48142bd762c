// realloc moved the block, the old address is freed.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was already freed \(class 64
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(60);
    char *moved = realloc(block, 5000);
    moved[0] = 1;
    free(block);
    return 0;
}
