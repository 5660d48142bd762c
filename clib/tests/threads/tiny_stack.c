// Threads with the smallest stack glibc allows (16 KiB) use every class, tier and function, on the
// slow paths too.
// covers: 21
// also: GRANARY_DEBUG_ALLOC_STATS=1
// also: GRANARY_ALLOC_RELEASE=0
#include "test.h"
#include <limits.h>
#include <malloc.h>

static void *run(void *unused)
{
    void **blocks = malloc(400 * sizeof *blocks);
    for (size_t i = 0; i < 400; i++) {
        blocks[i] = i % 3 ? malloc(i * 100) : calloc(1, i * 100);
        CHECKED(blocks[i] != NULL);
    }
    for (size_t i = 0; i < 400; i++)
        blocks[i] = realloc(blocks[i], i * 110 + 1);
    for (size_t i = 0; i < 400; i++)
        free(blocks[i]);
    free(blocks);
    void *aligned = NULL;
    CHECKED(posix_memalign(&aligned, 4096, 10000) == 0);
    free(aligned);
    malloc_trim(0);
    wait_ms(1);
    return unused;
}

int main(void)
{
    pthread_attr_t attributes;
    CHECKED(pthread_attr_init(&attributes) == 0);
    CHECKED(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    for (int round = 0; round < 5; round++) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++) {
            int error = pthread_create(&threads[i], &attributes, run, NULL);
            CHECK(error == 0, "pthread_create with a 16 KiB stack: error %d", error);
        }
        for (int i = 0; i < 8; i++)
            join_thread(threads[i]);
    }
    return 0;
}
