/* Loaded into a namespace of its own, with its own libc. */
#include <stdlib.h>

void *foreign_make(size_t bytes)
{
    return malloc(bytes);
}
