// Libraries with data that holds objects come and go in one thread while others collect.
// library: gc
// plugin: holder.c
// args: {holder.so}
// only: granary
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>

static _Atomic int over;

static void *collect(void *unused)
{
    while (!over) {
        GC_gcollect();
        for (int i = 0; i < 100; i++)
            GC_malloc(100);
    }
    return unused;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    GC_INIT();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, collect, NULL);
    for (long i = 0; i < 300; i++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        CHECK(library != NULL);
        void **(*data)(void) = (void **(*)(void))dlsym(library, "holder_data");
        void **(*tls)(void) = (void **(*)(void))dlsym(library, "holder_tls");
        long *object = GC_malloc(200), *other = GC_malloc(64);
        object[0] = i;
        other[0] = -i;
        *data() = object;
        *tls() = other;
        object = other = NULL;
        wipe_stack();
        if (i % 10 == 0)
            GC_gcollect();
        CHECK(*(long *)*data() == i && *(long *)*tls() == -i);
        CHECK(dlclose(library) == 0);
    }
    over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
