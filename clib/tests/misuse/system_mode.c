// In system mode faults are the libc's to find: Granary passes them on.
// only: granary
// env: GRANARY_ALLOC_SYSTEM=1
// expect: ^free\(\): double free detected
// signal: SIGABRT
#include <stdlib.h>

int main(void)
{
    void *block = malloc(50);
    free(block);
    free(block);
    return 0;
}
