// One byte past the end of a block that is never freed is found at the end of the program.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: exit: block {ptr} was written past its end \(class 112, asked for 100 bytes
// signal: SIGABRT
#include <stdlib.h>

char *volatile block;

int main(void)
{
    block = malloc(100);
    block[100] = 'x';
    return 0;
}
