// A freed block is written to and never used again; the fault is found at the end of the program.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: exit: block {ptr} was written to after it was freed \(class 256, offset 100
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(250);
    free(block);
    block[100] = 'x';
    return 0;
}
