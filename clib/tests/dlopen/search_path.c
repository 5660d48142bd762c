// Granary stands in for dlopen (for RTLD_DEEPBIND), and the loader decides by the caller where to
// look. The RUNPATH and $ORIGIN of the object that calls must count, dlopen(NULL) and the flags
// must mean the same, errors must be told.
// covers: 7
// plugin: caller.c -Wl,--enable-new-dtags,-rpath,$ORIGIN/sub
// plugin: found.c
// run: mkdir -p sub && cp {found.so} sub/libtest_found.so && cp {caller.so} caller.so && {exe}
#include "test.h"

int main(void)
{
    void *caller = dlopen("./caller.so", RTLD_NOW | RTLD_LOCAL);
    CHECK(caller != NULL, "dlopen: %s", dlerror());
    void *(*open_found)(int) = (void *(*)(int))dlsym(caller, "open_found");
    CHECKED(open_found != NULL);
    // Not found from here: this program has no RUNPATH.
    CHECK(dlopen("libtest_found.so", RTLD_NOW) == NULL, "found without the caller's RUNPATH");
    const char *error = dlerror();
    CHECK(error && strstr(error, "libtest_found.so"), "dlerror says %s", error ? error : "nothing");
    static const int flags[] = {RTLD_NOW, RTLD_LAZY, RTLD_NOW | RTLD_DEEPBIND,
        RTLD_LAZY | RTLD_LOCAL};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        void *found = open_found(flags[i]);
        CHECK(found != NULL, "flags 0x%x: %s", flags[i], dlerror());
        int (*answer)(void) = (int (*)(void))dlsym(found, "found_answer");
        CHECKED(answer && answer() == 42);
        CHECKED(dlclose(found) == 0);
    }
    CHECK(dlsym(RTLD_DEFAULT, "found_answer") == NULL, "RTLD_LOCAL was lost");
    void *found = open_found(RTLD_NOW | RTLD_GLOBAL);
    CHECK(dlsym(RTLD_DEFAULT, "found_answer") != NULL, "RTLD_GLOBAL was lost");
    CHECKED(open_found(RTLD_NOW | RTLD_NOLOAD) == found);
    void *self = dlopen(NULL, RTLD_NOW);
    CHECKED(self != NULL && dlsym(self, "malloc") == dlsym(RTLD_DEFAULT, "malloc"));
    CHECK(dlopen("sub/libtest_found.so", 0) == NULL, "no mode given, accepted");
    CHECKED(dlerror() != NULL);
    return 0;
}
