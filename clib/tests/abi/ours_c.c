// Every function of the malloc family that a program can reach is Granary's: one left with the libc
// would hand out blocks that nobody else can free, or report a heap that is not in use.
// covers: 9 10 45
// only: granary
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <malloc.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>

static const char *const names[] = {
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "posix_memalign",
    "aligned_alloc", "memalign", "valloc", "pvalloc", "malloc_usable_size", "free_sized",
    "free_aligned_sized", "malloc_trim", "mallinfo", "mallinfo2", "mallopt", "malloc_stats",
    "malloc_info", "granary_version", "granary_malloc", "granary_calloc", "granary_realloc",
    "granary_free", "granary_aligned_alloc", "granary_usable_size", "granary_good_size",
    "granary_owns", "granary_zalloc", "granary_zfree", "granary_png_malloc", "granary_png_free",
    "granary_idle", "granary_trim", "granary_get_stats", "granary_report",
};

// Bound by the linker, with the version that the libc gives these names: a look-up by name alone
// would also find a definition that programs are never bound to.
static const struct { const char *name; void *address; } bound[] = {
    {"malloc", (void *)malloc}, {"calloc", (void *)calloc}, {"realloc", (void *)realloc},
    {"free", (void *)free}, {"reallocarray", (void *)reallocarray},
    {"posix_memalign", (void *)posix_memalign}, {"aligned_alloc", (void *)aligned_alloc},
    {"memalign", (void *)memalign}, {"valloc", (void *)valloc}, {"pvalloc", (void *)pvalloc},
    {"malloc_usable_size", (void *)malloc_usable_size}, {"malloc_trim", (void *)malloc_trim},
    {"mallinfo", (void *)mallinfo}, {"mallinfo2", (void *)mallinfo2}, {"mallopt", (void *)mallopt},
    {"malloc_stats", (void *)malloc_stats}, {"malloc_info", (void *)malloc_info},
    {"dlopen", (void *)dlopen}, {"dlmopen", (void *)dlmopen}, {"poll", (void *)poll},
    {"select", (void *)select}, {"epoll_wait", (void *)epoll_wait}, {"usleep", (void *)usleep},
    {"nanosleep", (void *)nanosleep}, {"sleep", (void *)sleep},
    {"pthread_cond_timedwait", (void *)pthread_cond_timedwait},
    {"sem_timedwait", (void *)sem_timedwait},
};

static void expect_ours(const char *name, void *function)
{
    Dl_info info;
    CHECK(function != NULL, "%s is not defined", name);
    CHECK(dladdr(function, &info) != 0, "%s: dladdr knows nothing", name);
    CHECK(strstr(info.dli_fname, "libgranary.so") != NULL, "%s is that of %s", name,
          info.dli_fname);
}

int main(void)
{
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        expect_ours(bound[i].name, bound[i].address);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_ours(names[i], dlsym(RTLD_DEFAULT, names[i]));
    return 0;
}
