/* Threads: where a thread's cache is found, how it gets one, and what happens at its end.
 *
 * state     the thread's cache              changes when
 * new       null_cache                      it allocates or frees for the first time: enter
 * running   its own                         the destructor of the key runs: leave
 * dying     null_cache                      it ends; what its last destructors allocate goes to the shared pool
 *
 * In null_cache every bin looks empty and full at once, so the fast paths need no test of their own for a thread
 * without a cache: it sends both to the slow path. */
#include "core.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

/* heap.NoCacheBytes, rounded up. */
static const uint64_t null_cache[24576 / 8];

enum { THREAD_NEW, THREAD_ENTERING, THREAD_RUNNING, THREAD_DYING };

static __thread struct {
    void *cache;
    uint32_t id;
    uint32_t state;
} thread INITIAL_EXEC = {.cache = (void *)null_cache};

static pthread_key_t key;
static bool have_key;
static _Atomic uint32_t last_id;

uintptr_t granary_glue_cache(void) { return (uintptr_t)thread.cache; }

uint32_t granary_sys_thread_id(void)
{
    while (UNLIKELY(thread.id == 0)) /* 0 comes again after a billion threads */
        thread.id = (atomic_fetch_add(&last_id, 1) + 1) & 0x3fffffff;
    return thread.id;
}

/* The end of a thread: its blocks go to the shared pool, its cache to the next thread. */
static void leave(void *cache)
{
    thread.state = THREAD_DYING;
    thread.cache = (void *)null_cache;
    core_drop_cache(cache);
}

void granary_thread_start(void)
{
    if (pthread_key_create(&key, leave) == 0)
        have_key = true;
    if (!core_start(granary_options.range_bytes, (void *)null_cache, granary_options.mode, granary_options.limit))
        granary_options.mode |= MODE_SYSTEM;
}

/* Called by the slow paths of a thread whose cache is null_cache. */
uintptr_t granary_glue_enter(void)
{
    if (!granary_options.started)
        granary_start();
    if (thread.state != THREAD_NEW || (granary_options.mode & (MODE_SYSTEM | MODE_GUARD)) != 0)
        return (uintptr_t)thread.cache;
    thread.state = THREAD_ENTERING; /* what the calls below allocate goes to the shared pool */
    void *cache = core_new_cache();
    if (cache == null_cache) {
        thread.state = THREAD_NEW; /* no memory now; the next slow path tries again */
        return (uintptr_t)cache;
    }
    int saved = errno;
    bool kept = have_key && pthread_setspecific(key, cache) == 0;
    errno = saved;
    if (!kept) {
        core_drop_cache(cache); /* nobody would hand its blocks over at the thread's end */
        return (uintptr_t)thread.cache;
    }
    thread.cache = cache;
    thread.state = THREAD_RUNNING;
    return (uintptr_t)cache;
}
