// A block freed again after many others, and never handed out in between, is found without any
// switch.
// only: granary
// expect: ^granary: free\({ptr}\): block was already freed \(class 64
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    static void *blocks[20];
    for (int i = 0; i < 20; i++)
        blocks[i] = malloc(60);
    for (int i = 0; i < 20; i++)
        free(blocks[i]);
    free(blocks[5]);
    return 0;
}
