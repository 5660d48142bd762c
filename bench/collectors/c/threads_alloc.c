/* threads_alloc: each thread makes five million objects of 16 to 2000 bytes and keeps the last 256. */
#define THREADS
#include "collector.h"

static long objects;

static void *work(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument, checksum = 0;
    void **kept = need(GC_MALLOC(256 * sizeof *kept));
    for (long i = 0; i < objects; i++) {
        size_t size = 16u << random_below(&seed, 7);
        size += random_below(&seed, (uint32_t)size);
        if (size > 2000)
            size = 2000;
        uint64_t *object = need(i % 3 == 0 ? GC_MALLOC(size) : GC_MALLOC_ATOMIC(size));
        object[0] = (uint64_t)i;
        uint64_t **slot = (uint64_t **)&kept[i & 255];
        if (*slot != NULL)
            checksum += (*slot)[0];
        *slot = object;
    }
    return (void *)(uintptr_t)checksum;
}

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    GC_allow_register_threads();
    objects = scaled(5000000, 10000);
    pthread_t threads[64];
    uint64_t checksum = 0;
    for (int i = 0; i < collector_threads; i++)
        if (GC_pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
            exit(4);
    for (int i = 0; i < collector_threads; i++) {
        void *result;
        GC_pthread_join(threads[i], &result);
        checksum += (uint64_t)(uintptr_t)result;
    }
    collector_finish(checksum);
}
