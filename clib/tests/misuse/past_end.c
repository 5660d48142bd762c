// One byte is written past what was asked for, in the slack of the class.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was written past its end \(class 64, asked for 50 bytes
// expect: ^  allocated at:
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(50);
    block[50] = 'x';
    free(block);
    return 0;
}
