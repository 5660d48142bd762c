// The same block freed twice in a row.
// covers: 8
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was already freed \(class 64
// expect: ^  allocated at:
// expect: ^    #[0-9]+ {ptr} make_block\+{ptr} \(.*double_free
// expect: ^  freed at:
// expect: ^    #[0-9]+ {ptr} first_free\+{ptr} \(.*double_free
// signal: SIGABRT
// cflags: -rdynamic
#include <stdlib.h>

__attribute__((noinline)) void *make_block(void)
{
    char *block = malloc(50);
    block[0] = 1;
    return block;
}
__attribute__((noinline)) void first_free(void *block)
{
    free(block);
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    void *block = make_block();
    first_free(block);
    free(block);
    return 0;
}
