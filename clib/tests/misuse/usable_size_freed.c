// malloc_usable_size of a block that was freed: reported, or a number; never a crash.
// only: granary
#include <malloc.h>
#include <stdlib.h>

int main(void)
{
    char *block = malloc(64);
    free(block);
    return malloc_usable_size(block) > 64;
}
