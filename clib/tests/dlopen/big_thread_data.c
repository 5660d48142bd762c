// 200 threads open and close a library with a large __thread array: the loader allocates thread
// data on first touch and frees it at thread exit, inside of malloc's own first use in that thread.
// covers: 1 3
// plugin: big_tls.c
// args: {big_tls.so}
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"

static const char *plugin_path;

static void *run(void *unused)
{
    for (int round = 0; round < 3; round++) {
        void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
        CHECK(plugin != NULL, "dlopen: %s", dlerror());
        size_t (*touch)(void) = (size_t (*)(void))dlsym(plugin, "big_touch");
        CHECKED(touch != NULL);
        // Other threads may have kept the library loaded, and with it this thread's data.
        size_t first = touch();
        free(malloc(100));
        CHECKED(touch() == first + 1);
        CHECKED(dlclose(plugin) == 0);
        free(malloc(1000));
    }
    return unused;
}

int main(int argc, char **argv)
{
    CHECKED(argc == 2);
    plugin_path = argv[1];
    pthread_t threads[200];
    for (int i = 0; i < 200; i++)
        start_thread(&threads[i], run, NULL);
    for (int i = 0; i < 200; i++)
        join_thread(threads[i]);
    return 0;
}
