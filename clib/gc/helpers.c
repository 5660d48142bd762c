/* Threads that help marking.
 *
 * They are started when a collection has left enough alive to be worth it, not before, and sleep between collections.
 * They take no signal, have small stacks, and are not known as threads of the program. The child of a fork has none
 * until it needs them. */
#include "collector.h"

#include <limits.h>
#include <sched.h>
#include <sys/prctl.h>

enum { HELPERS_MOST = 15, STACK_BYTES = 64 << 10 };

static _Atomic uint32_t calls;       /* of helpers; what they wait for */
static _Atomic uint32_t asleep_from; /* helpers with this number and above sleep on; 0: there is nothing to do */
static unsigned started;              /* under the collector's lock, or while one thread starts them */
static _Atomic uint32_t starting;

unsigned granary_gc_processors(void)
{
    unsigned processors = granary_sys_cpus();
    return processors == 0 ? 1 : processors;
}

unsigned granary_gc_helper_count(void) { return started; }

static void *help(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;
    prctl(PR_SET_NAME, "gc-marker");
    granary_gc_local.inside = 1; /* never leaves the core */
    for (;;) {
        uint32_t seen = atomic_load(&calls);
        while (number < atomic_load(&asleep_from)) {
            core_gc_help(number); /* returns at once before the work begins, and when it is over */
            sched_yield();
        }
        granary_gc_futex_wait(&calls, seen, 0);
    }
    return NULL;
}

static bool start_helper(unsigned number)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) != 0) /* the program's static thread-local data is larger */
        pthread_attr_setstacksize(&attributes, STACK_BYTES * 16);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool done = pthread_create(&thread, &attributes, help, (void *)(uintptr_t)number) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return done;
}

/* How many of the helpers that the core wants the program may have. */
static unsigned helpers_wanted(void)
{
    unsigned wanted = core_gc_helpers_wanted();
    if (wanted == 0)
        return 0;
    unsigned markers = granary_gc_options.markers != 0 ? granary_gc_options.markers : granary_gc_processors();
    unsigned most = markers - 1 > HELPERS_MOST ? HELPERS_MOST : markers - 1;
    return wanted > most ? most : wanted;
}

/* pthread_create may allocate from the program's malloc, so this is not done in a collection. */
void granary_gc_want_helpers(void)
{
    unsigned wanted = helpers_wanted();
    if (started >= wanted || atomic_exchange(&starting, 1) != 0)
        return;
    while (started < wanted && start_helper(started + 1))
        started++;
    GC_parallel = (int)started;
    atomic_store(&starting, 0);
}

void granary_gc_call_helpers(void)
{
    unsigned wanted = helpers_wanted();
    if (wanted > started)
        wanted = started;
    core_gc_start_helpers(wanted);
    if (wanted == 0)
        return;
    atomic_store(&asleep_from, wanted + 1);
    atomic_fetch_add(&calls, 1);
    granary_gc_futex_wake(&calls, INT_MAX);
}

void granary_gc_dismiss_helpers(void)
{
    atomic_store(&asleep_from, 0);
    core_gc_start_helpers(0);
}

void granary_gc_helpers_after_fork(void)
{
    started = 0;
    GC_parallel = 0;
    atomic_store(&starting, 0);
}

void GC_start_mark_threads(void)
{
    granary_gc_enter();
    granary_gc_want_helpers();
}

void GC_set_markers_count(unsigned markers)
{
    if (!atomic_load(&granary_gc_started))
        granary_gc_options.markers = markers;
}
