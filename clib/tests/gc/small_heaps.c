// Threads that keep next to nothing do not make the heap large, however fast they allocate: what a collection frees may
// be used up by one thread before another runs again, which then collects anew.
// library: gc
// only: granary
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, OBJECTS = 100000, KEPT = 64, MOST = 2000 };

static void *work(void *argument)
{
    uint32_t seed = (uint32_t)(uintptr_t)argument;
    long **kept = GC_malloc(KEPT * sizeof *kept);
    for (long i = 0; i < OBJECTS; i++) {
        seed = seed * 1664525 + 1013904223;
        long *object = GC_malloc(sizeof *object + (seed >> 8) % MOST);
        long **slot = &kept[i % KEPT];
        CHECK(*object == 0);
        CHECK(*slot == NULL || **slot == i - KEPT);
        *object = i;
        *slot = object;
    }
    return NULL;
}

int main(void)
{
    GC_INIT();
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(GC_get_heap_size() < (16 << 20));
    return 0;
}
