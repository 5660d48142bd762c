// The line of a sweep says how many spans were given back and how long the longest was empty.
// only: granary
// link: {granary}
// env: GRANARY_DEBUG_ALLOC_RELEASE=1
// expect: ^granary: .*[0-9]+ spans?.*[0-9]
// expect-out: ^done$
#include "test.h"

int main(void)
{
    static void *blocks[20000];
    for (size_t i = 0; i < 20000; i++) {
        blocks[i] = malloc(1000);
        memset(blocks[i], 1, 1000);
    }
    for (size_t i = 0; i < 20000; i++)
        free(blocks[i]);
    wait_ms(1500);
    printf("done\n");
    return 0;
}
