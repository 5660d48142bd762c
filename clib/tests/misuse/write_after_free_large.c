// A freed block of the normal tier (over 32 KiB) is written to; found at the end of the program.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: exit: block 0x[0-9a-f]+ was written to after it was freed \(.*offset 40000
// expect: ^  allocated at:
// expect: ^  freed at:
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(50000);
    free(block);
    block[40000] = 'x';
    return 0;
}
