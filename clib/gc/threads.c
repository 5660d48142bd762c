/* The threads that the collector knows.
 *
 * A thread becomes known at its first call, whatever made it: it gets a record and a cache of the core. It is forgotten
 * at its end, by the destructor of a key: not the first time that runs, since destructors of other keys may use objects
 * still, but the last time that the libc promises to run it. A call after that makes it known once more.
 *
 * A thread that ends without destructors (by the system call) is found to be dead at the next stop. */
#include "collector.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct gc_local granary_gc_local INITIAL_EXEC;

struct gc_thread *granary_gc_threads;
_Atomic uint32_t granary_gc_thread_count;

static struct gc_thread *unused; /* records; under the collector's lock */
static pthread_key_t key;
static bool have_key;
static _Atomic uint32_t last_id;

uint32_t granary_sys_thread_id(void)
{
    while (UNLIKELY(granary_gc_local.id == 0)) /* 0 comes again after a billion threads */
        granary_gc_local.id = (atomic_fetch_add(&last_id, 1) + 1) & 0x3fffffff;
    return granary_gc_local.id;
}

static struct gc_thread *take_record(void)
{
    enum { RECORDS = 16 };
    if (unused == NULL) {
        struct gc_thread *fresh = granary_gc_pages(RECORDS * sizeof *fresh);
        for (int i = 0; fresh != NULL && i < RECORDS; i++) {
            fresh[i].next = unused;
            unused = &fresh[i];
        }
    }
    struct gc_thread *record = unused;
    if (record != NULL) {
        unused = record->next;
        memset(record, 0, sizeof *record);
    }
    return record;
}

static void drop_cache(uintptr_t cache)
{
    if (cache == 0)
        return;
    granary_gc_into_core();
    core_gc_drop_cache(cache);
    granary_gc_out_of_core();
}

void granary_gc_forget(struct gc_thread *thread)
{
    struct gc_thread **at = &granary_gc_threads;
    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    drop_cache(thread->cache);
    thread->next = unused;
    unused = thread;
    atomic_fetch_sub(&granary_gc_thread_count, 1);
}

void granary_gc_leave(void)
{
    struct gc_thread *self = granary_gc_local.self;
    bool took = granary_gc_lock();
    granary_gc_local.fast = granary_gc_local.cache = 0;
    granary_gc_local.self = NULL;
    granary_gc_forget(self);
    granary_gc_unlock(took);
}

static void at_end(void *unused_value)
{
    (void)unused_value;
    if (granary_gc_local.self == NULL)
        return;
    if (++granary_gc_local.destructors < PTHREAD_DESTRUCTOR_ITERATIONS
        && pthread_setspecific(key, granary_gc_local.self) == 0)
        return;
    granary_gc_leave();
}

void granary_gc_threads_start(void) { have_key = pthread_key_create(&key, at_end) == 0; }

static void look_at_stack(struct gc_thread *self)
{
    uintptr_t low = 0, high = 0;
    granary_gc_own_stack(&low, &high, self->is_main);
    bool took = granary_gc_lock();
    self->stack_low = low;
    self->stack_high = high;
    granary_gc_unlock(took);
}

/* What this allocates (the libc's look at the stack) may come back here, if the program's malloc is GC_malloc: so the
 * thread is known first, with a stack whose bounds are not, and the bounds come after. */
static void become_known(void)
{
    int saved = errno;
    granary_gc_local.inside = 0;
    granary_gc_local.pending = 0;
    uintptr_t cache = core_gc_new_cache();
    bool took = granary_gc_lock();
    struct gc_thread *self = take_record();
    if (self == NULL || cache == 0) {
        granary_gc_unlock(took);
        granary_fatal("granary: no memory to make thread %d known to the collector\n", (int)syscall(SYS_gettid));
    }
    self->tid = (pid_t)syscall(SYS_gettid);
    self->is_main = self->tid == granary_gc_process();
    self->handle = pthread_self();
    self->thread_pointer = (uintptr_t)__builtin_thread_pointer();
    self->cache = cache;
    self->comes_by = true;
    sigset_t blocked;
    self->blocks_signal = pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0
                          && sigismember(&blocked, GC_get_suspend_signal()) == 1;
    self->next = granary_gc_threads;
    granary_gc_threads = self;
    atomic_fetch_add(&granary_gc_thread_count, 1);
    granary_gc_local.self = self;
    granary_gc_local.cache = cache;
    granary_gc_local.fast = GC_find_leak != 0 ? 0 : cache;
    granary_gc_unlock(took);
    if (have_key)
        pthread_setspecific(key, self);
    look_at_stack(self);
    errno = saved;
}

void granary_gc_enter_slow(void)
{
    granary_gc_start();
    if (granary_gc_local.self == NULL)
        become_known();
}

/* The other threads are not in this process. Their caches were at rest when the fork took its copy. */
void granary_gc_only_this_thread(void)
{
    struct gc_thread *next;
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = next) {
        next = thread->next;
        if (thread == granary_gc_local.self)
            continue;
        if (thread->cache != 0)
            core_gc_forget_chains(thread->cache);
        granary_gc_forget(thread);
    }
    struct gc_thread *self = granary_gc_local.self;
    if (self != NULL) {
        self->tid = (pid_t)syscall(SYS_gettid);
        self->handle = pthread_self();
    }
}
