// Blocks that were never freed are reported in groups, by the stack that allocated them, with
// names.
// covers: 47
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: leak: 3 blocks, 150 bytes, allocated at:
// expect: ^    #[0-9]+ {ptr} leak_three\+{ptr} \(.*leak_grouped
// expect: ^    #[0-9]+ {ptr} main\+{ptr} \(.*leak_grouped
// expect: ^granary: leak: 1 block, 20 bytes, allocated at:
// expect: ^    #[0-9]+ {ptr} leak_one\+{ptr} \(.*leak_grouped
// expect: ^granary: 4 blocks \(170 bytes\) were never freed
// cflags: -rdynamic
#include <stdlib.h>

void *volatile last;

__attribute__((noinline)) void leak_three(void)
{
    for (volatile int i = 0; i < 3; i++) // one call, not three
        last = malloc(50);
}
__attribute__((noinline)) void leak_one(void)
{
    last = malloc(20);
    free(malloc(30));
}

int main(void)
{
    leak_three();
    leak_one();
    return 0;
}
