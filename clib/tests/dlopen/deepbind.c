// A plug-in opened with RTLD_DEEPBIND frees what the libc allocated for it (asprintf, getline,
// strdup), reallocates it, and hands blocks in both directions.
// covers: 7
// plugin: deep.c
// args: {deep.so}
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"

int main(int argc, char **argv)
{
    CHECKED(argc == 2);
    for (int round = 0; round < 3; round++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        CHECK(plugin != NULL, "dlopen: %s", dlerror());
        int (*run)(void) = (int (*)(void))dlsym(plugin, "deep_run");
        void (*take)(void *) = (void (*)(void *))dlsym(plugin, "deep_take");
        void *(*make)(size_t) = (void *(*)(size_t))dlsym(plugin, "deep_make");
        CHECKED(run && take && make);
        CHECK(run() == 0, "the plug-in failed");
        for (size_t size = 0; size < 100000; size = size * 2 + 1) {
            take(malloc(size));
            void *block = make(size);
            block = realloc(block, size + 100);
            CHECKED(block != NULL);
            free(block);
        }
        CHECKED(dlclose(plugin) == 0);
    }
    return 0;
}
