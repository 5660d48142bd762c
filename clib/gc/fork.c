/* Fork: the world stands while the process is copied, so the child finds every thread outside of the core and no lock
 * taken but the collector's, which the forking thread has. The child then forgets all other threads.
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
static bool took_lock, stands; /* what the preparation has got */
static int handle_fork = 1;

pid_t granary_gc_process(void) { return process; }

static void prepare(void)
{
    took_lock = granary_gc_lock();
    stands = took_lock && granary_gc_stop_world();
}

static void parent(void)
{
    if (stands)
        granary_gc_start_world();
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
    if (stands || !took_lock) /* else it is a copy of a thread at work, as of one that no handler has seen */
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
