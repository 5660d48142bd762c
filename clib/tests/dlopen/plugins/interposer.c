/* Replaces four system calls. The look-up allocates on purpose, as dlsym and dlerror may do. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    /* A failing look-up makes glibc allocate the message. */
    (void)dlsym(RTLD_NEXT, "a_function_that_does_not_exist");
    char *copy = strdup(name);
    free(copy);
    return function;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (!next)
        next = (void *(*)(void *, size_t, int, int, int, off_t))real("mmap");
    return next(at, bytes, protection, flags, fd, offset);
}

int munmap(void *at, size_t bytes)
{
    static int (*next)(void *, size_t);
    if (!next)
        next = (int (*)(void *, size_t))real("munmap");
    return next(at, bytes);
}

int madvise(void *at, size_t bytes, int advice)
{
    static int (*next)(void *, size_t, int);
    if (!next)
        next = (int (*)(void *, size_t, int))real("madvise");
    return next(at, bytes, advice);
}

int mprotect(void *at, size_t bytes, int protection)
{
    static int (*next)(void *, size_t, int);
    if (!next)
        next = (int (*)(void *, size_t, int))real("mprotect");
    return next(at, bytes, protection);
}
