// realloc of a block that was freed.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: (free|realloc)\({ptr}\): block was already freed \(class 64
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *block = malloc(60);
    free(block);
    block = realloc(block, 3000);
    return block == 0;
}
