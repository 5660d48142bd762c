// A freed block is written to; the fault is found when the block would be handed out again.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: malloc: block {ptr} was written to after it was freed \(class 64, offset 8
// expect: ^  allocated at:
// expect: ^  freed at:
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    char *volatile block = malloc(60);
    free(block);
    block[8] = 'x';
    // A debug heap may keep freed blocks back for a while, so all of the class are asked for.
    for (int i = 0; i < 200000; i++)
        if (malloc(60) == block)
            break;
    return 0;
}
