// A thread opens the library, allocates, closes it and ends: its exit must not run code that is
// gone. The same with a plug-in that has thread destructors of its own.
// covers: 6 20
// library: none
// only: granary
// plugin: destructor.cpp -lstdc++
// args: {lib} {destructor.so}
#include "test.h"

static char **arguments;

static void *run(void *unused)
{
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL, "dlopen: %s", dlerror());
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(library, "granary_malloc");
    void (*release)(void *) = (void (*)(void *))dlsym(library, "granary_free");
    for (size_t size = 1; size < 30000; size += 77)
        release(allocate(size));
    void *plugin = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin != NULL, "dlopen: %s", dlerror());
    ((void (*)(void))dlsym(plugin, "touch"))();
    dlclose(plugin);
    dlclose(library);
    return unused;
}

int main(int argc, char **argv)
{
    CHECKED(argc == 3);
    arguments = argv;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            start_thread(&threads[i], run, NULL);
        for (int i = 0; i < 4; i++)
            join_thread(threads[i]);
    }
    return 0;
}
