// All 22 forms of operator new and delete are Granary's, by the addresses that a program is linked
// to.
// covers: 10
// only: granary
#include "test.h"

static const char *const names[] = {
    "_Znwm",                              // new(size)
    "_Znam",                              // new[](size)
    "_ZnwmRKSt9nothrow_t",                // nothrow
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",               // aligned
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t", // aligned, nothrow
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",                             // delete
    "_ZdaPv",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvm",                            // sized
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",              // aligned
    "_ZdaPvSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
    "_ZdlPvmSt11align_val_t",             // sized and aligned
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvmRKSt9nothrow_t",              // sized, nothrow: in no standard
    "_ZdaPvmRKSt9nothrow_t",
};

#include <new>

static void expect_ours(const char *name, void *function)
{
    Dl_info info;
    CHECK(function != NULL, "%s is not defined", name);
    CHECK(dladdr(function, &info) != 0, "%s: dladdr knows nothing", name);
    CHECK(strstr(info.dli_fname, "libgranary.so") != NULL, "%s is that of %s", name,
          info.dli_fname);
}

int main()
{
    static_assert(sizeof names / sizeof *names == 22, "the 20 forms of C++17 and two more");
    for (const char *name : names)
        expect_ours(name, dlsym(RTLD_DEFAULT, name));
    // The two that every program uses, by the address the linker gave this program.
    void *(*plain_new)(std::size_t) = &::operator new;
    void (*plain_delete)(void *) = &::operator delete;
    expect_ours("operator new", reinterpret_cast<void *>(plain_new));
    expect_ours("operator delete", reinterpret_cast<void *>(plain_delete));
    return 0;
}
