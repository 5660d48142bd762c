// Every function of the malloc family that a program can reach is Granary's: one left with the libc would hand
// out blocks that nobody else can free, or report a heap that is not in use.
// covers: 9 10 45
// only: granary
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"

static const char *const names[] = {
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "posix_memalign",
    "aligned_alloc", "memalign", "valloc", "pvalloc", "malloc_usable_size", "free_sized",
    "free_aligned_sized", "malloc_trim", "mallinfo", "mallinfo2", "mallopt", "malloc_stats",
    "malloc_info", "granary_version", "granary_malloc", "granary_calloc", "granary_realloc",
    "granary_free", "granary_aligned_alloc", "granary_usable_size", "granary_good_size",
    "granary_owns", "granary_zalloc", "granary_zfree", "granary_png_malloc", "granary_png_free",
    "granary_idle", "granary_trim", "granary_get_stats", "granary_report",
};

int main(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(RTLD_DEFAULT, names[i]);
        CHECK(function != NULL, "%s is not defined", names[i]);
        Dl_info info;
        CHECK(dladdr(function, &info) != 0, "%s: dladdr knows nothing", names[i]);
        CHECK(strstr(info.dli_fname, "libgranary.so") != NULL, "%s is that of %s", names[i],
              info.dli_fname);
    }
    return 0;
}
