// Thread-specific data whose destructors allocate, free, set themselves again, and run after the
// library's own clean up at thread exit: in 20,000 threads memory stays flat.
// covers: 20
// also: GRANARY_DEBUG_ALLOC_STATS=1
#include "test.h"

enum { KEYS = 3, THREADS = 20000, AT_ONCE = 4, ROUNDS = 4 };
static pthread_key_t keys[KEYS];
static __thread int rounds;

static void destroy(void *value)
{
    size_t index = *(size_t *)value;
    free(value);
    for (size_t size = 20; size < 40000; size *= 3)
        free(malloc(size));
    if (rounds++ < ROUNDS) {
        size_t *again = malloc(600);
        *again = index;
        CHECKED(pthread_setspecific(keys[index], again) == 0);
    }
}

static void *run(void *unused)
{
    for (size_t i = 0; i < KEYS; i++) {
        size_t *value = malloc(100);
        *value = i;
        CHECKED(pthread_setspecific(keys[i], value) == 0);
    }
    return unused;
}

int main(void)
{
    for (int i = 0; i < KEYS; i++)
        CHECKED(pthread_key_create(&keys[i], destroy) == 0);
    size_t settled = 0;
    for (int done = 0; done < THREADS; done += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            start_thread(&threads[i], run, NULL);
        for (int i = 0; i < AT_ONCE; i++)
            join_thread(threads[i]);
        if (done == THREADS / 10)
            settled = rss_bytes();
    }
    size_t rss = rss_bytes();
    CHECK(rss < settled + settled / 2 + MIB, "%zu KiB after %d threads, %zu KiB after a tenth",
          rss / KIB, THREADS, settled / KIB);
    return 0;
}
