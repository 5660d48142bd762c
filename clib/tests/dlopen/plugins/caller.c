/* Opens a library that only its own RUNPATH leads to. */
#include <dlfcn.h>

void *open_found(int flags)
{
    return dlopen("libtest_found.so", flags);
}
