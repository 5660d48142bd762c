/* Fork: the child finds every thread outside of the core, and no lock taken but the collector's, which the forking
 * thread has. It then forgets all other threads.
 *
 * To get there the world is stopped before the fork, but it does not stand until the process is copied: fork takes
 * locks of the libc's in between, and other libraries' handlers take theirs, which a stopped thread may hold. So the
 * threads find a gate closed as they go on: until the fork is over nobody but the thread that forks goes into the core,
 * but for taking objects that a thread has in its chains. So the child does not follow those: pages are copied one by
 * one.
 *
 * A process made without these handlers (the system call, vfork) is told by a page that the kernel wipes in a copy. */
#include "collector.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

static pid_t process;
static _Atomic uint32_t *stamp; /* 0 in a copy of the process that no handler has seen */
static bool took_lock, is_alone; /* what the preparation has got: the lock, and the core for this thread */
static int handle_fork = 1;
_Atomic uint32_t granary_gc_fork_gate;

pid_t granary_gc_process(void) { return process; }

/* The thread has said that it is in the core: not yet. It is outside while it waits, and may be stopped. */
void __attribute__((noinline)) granary_gc_wait_at_gate(void)
{
    while (atomic_load(&granary_gc_fork_gate) != 0 && !granary_gc_lock_is_mine()) {
        granary_gc_out_of_core();
        granary_gc_futex_wait(&granary_gc_fork_gate, 1, 0);
        if (granary_gc_local.cache == 0)
            granary_gc_activate();
        granary_gc_mark_inside();
    }
}

static void prepare(void)
{
    took_lock = granary_gc_lock();
    is_alone = took_lock && granary_gc_stop_world();
    if (!is_alone)
        return;
    atomic_store(&granary_gc_fork_gate, 1);
    granary_gc_start_world();
}

static void parent(void)
{
    if (is_alone) {
        atomic_store(&granary_gc_fork_gate, 0);
        granary_gc_futex_wake(&granary_gc_fork_gate, INT32_MAX);
    }
    granary_gc_unlock(took_lock);
}

static void become_own_process(void)
{
    process = (pid_t)syscall(SYS_getpid);
    if (stamp != NULL)
        atomic_store(stamp, 1);
    granary_gc_stop_after_fork();
    granary_gc_only_this_thread();
    granary_gc_helpers_after_fork();
}

static void child(void)
{
    granary_gc_lock_after_fork();
    atomic_store(&granary_gc_fork_gate, 0);
    if (is_alone || !took_lock) /* else it is a copy of a thread at work, as of one that no handler has seen */
        become_own_process();
    granary_gc_unlock(took_lock);
}

bool granary_gc_is_own_process(void)
{
    if ((pid_t)syscall(SYS_getpid) == process)
        return true;
    if (stamp == NULL || atomic_load(stamp) != 0)
        return false; /* shares our memory: the child of a vfork */
    if (atomic_load(&granary_gc_thread_count) > 1)
        return false; /* a copy of other threads at work: it may only grow */
    become_own_process();
    return true;
}

void granary_gc_fork_start(void)
{
    int saved = errno;
    process = (pid_t)syscall(SYS_getpid);
    stamp = granary_gc_pages((size_t)sysconf(_SC_PAGESIZE));
    if (stamp != NULL && madvise(stamp, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) != 0)
        stamp = NULL;
    if (stamp != NULL)
        atomic_store(stamp, 1);
    if (handle_fork != 0)
        __register_atfork(prepare, parent, child, NULL);
    errno = saved;
}

void GC_set_handle_fork(int value)
{
    if (!atomic_load(&granary_gc_started))
        handle_fork = value == 1 || value == -1;
}

/* With GC_set_handle_fork(0) the program calls these around fork by itself; else there is nothing to do. */
void GC_atfork_prepare(void)
{
    granary_gc_enter();
    if (handle_fork == 0)
        prepare();
}

void GC_atfork_parent(void)
{
    if (handle_fork == 0)
        parent();
}

void GC_atfork_child(void)
{
    if (handle_fork == 0)
        child();
}
