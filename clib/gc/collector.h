/* The C library's own interface: threads, stopping them, roots, the driver of collections.
 *
 * Locks, in the order in which they are taken:
 *
 *   the collector's lock   granary_gc_lock: held over a collection, over changes of the list of threads and of roots,
 *                          and by programs (GC_alloc_lock). Who waits for it counts as blocked.
 *   the loader's lock      held over the part of a collection in which the world stands
 *   the core's locks       taken inside of the core only. Nobody is stopped there: see struct gc_local.
 */
#ifndef GRANARY_GC_COLLECTOR_H
#define GRANARY_GC_COLLECTOR_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <ucontext.h>

#include "api.h"
#include "gc_core.h"

/* What the fast paths and the signal handler need of a thread.
 *
 * inside > 0: the thread is in the core. A signal that asks it to stop then only sets pending, and the thread stops as
 * it leaves the core: so a collection finds no half-done work and no lock of the core taken. */
struct gc_local {
    uintptr_t fast;  /* the cache for the fast paths, 0: they take the slow one (find-leak mode) */
    uintptr_t cache; /* the core's cache, 0: the thread is not known, or blocked */
    uint32_t inside;
    uint32_t pending; /* what is to be done as the thread leaves the core: bits of GC_PENDING_... */
    struct gc_thread *self; /* NULL: not known */
    uint32_t id;
    uint32_t finalizing;  /* depth of finalizers that run */
    uint32_t skipped;     /* calls that did not run finalizers since */
    uint32_t destructors; /* how often the destructor of the key ran */
    uintptr_t again_sp;   /* GC_PENDING_BLOCK: its blocked_sp */
};
enum { GC_PENDING_STOP = 1, GC_PENDING_BLOCK = 2 };
extern __thread struct gc_local granary_gc_local INITIAL_EXEC;

/* States of a thread, from the collector's side.
 *
 *   state     who changes it               meaning
 *   RUNNING   the thread, from BLOCKED     stops as it is asked to, or by a signal
 *   BLOCKED   the thread, from RUNNING     touches no object: its stack is scanned from blocked_sp as it is
 *   HELD      a collection, from BLOCKED   must wait before it becomes RUNNING; the collection sets it back to BLOCKED
 *   AWAITED   the thread, from HELD        sleeps until the collection sets it back
 *
 * A thread that is asked to stop as it becomes BLOCKED makes itself HELD.
 */
enum { GC_THREAD_RUNNING, GC_THREAD_BLOCKED, GC_THREAD_HELD, GC_THREAD_AWAITED };

struct gc_thread {
    struct gc_thread *next; /* in the list of all, under the collector's lock */
    pid_t tid;
    pthread_t handle;
    uintptr_t thread_pointer;
    uintptr_t stack_low, stack_high; /* 0: not known */
    uintptr_t fiber_bottom; /* of the stack that it runs on, as the program says; 0: its own */
    uintptr_t alternate_low, alternate_high;
    uintptr_t cache; /* the core's */
    _Atomic uint32_t state;
    _Atomic uint32_t asked;     /* the stop that it is to answer; even: it answers the one before, or has */
    _Atomic bool comes_by;      /* it gave the last answer where it allocates, without a signal */
    _Atomic uint32_t refilled_after; /* granary_gc_markings + 1 at its last slow path of an allocation; 0: none yet */
    bool is_main;
    bool blocks_signal;         /* does not get the signal: the other one is used */
    bool unreachable;           /* it was deaf as a stop was given up for good */
    _Atomic bool bare_signal;   /* it was sent the one that carries no mark */
    bool by_call;               /* the program registered it, or created it with GC_pthread_create */
    _Atomic uint32_t suspended; /* GC_suspend_thread: 1 asked for, 2 the thread waits */
    uintptr_t blocked_sp;
    uintptr_t stopped_sp;
    const ucontext_t *context; /* of the signal that stopped it; NULL: it stopped at its own place */
    uint64_t blocked_depth;    /* regions of GC_do_blocking that it is in */
    uint64_t gc_active_depth;
};

/* ---- options: env.c ---- */
extern struct gc_options {
    size_t initial_bytes, limit_bytes;
    unsigned markers;      /* 0: as many as there are processors */
    bool print_stats, print_more;
    bool verbose;          /* a line when the heap is made ready */
    bool verify;           /* compare each marking with the plain marker's */
    bool keep_blocks;
    int log_fd;
    unsigned long pause_ms;
    bool incremental;
    bool aborts_loop;
} granary_gc_options;
void granary_gc_read_environment(void);

/* ---- init.c ---- */
extern _Atomic bool granary_gc_started;
void granary_gc_start_slow(void);
void granary_gc_apply_early_settings(void); /* api_config.c: what was set before the heap was there */
static inline void granary_gc_start(void)
{
    if (UNLIKELY(!atomic_load_explicit(&granary_gc_started, memory_order_acquire)))
        granary_gc_start_slow();
}

/* ---- threads.c ---- */
extern struct gc_thread *granary_gc_threads; /* all that are known, under the collector's lock */
extern _Atomic uint32_t granary_gc_thread_count;
uint32_t granary_sys_thread_id(void);
void granary_gc_threads_start(void);
/* Makes the calling thread known if it is not, and the library ready. */
void granary_gc_enter_slow(void);
static inline void granary_gc_enter(void)
{
    if (UNLIKELY(granary_gc_local.cache == 0))
        granary_gc_enter_slow();
}
void granary_gc_leave(void); /* the calling thread is known no more */
void granary_gc_forget(struct gc_thread *thread); /* under the lock: it is dead */
void granary_gc_only_this_thread(void);           /* in the child of a fork */
/* The bounds of the calling thread's stack, 0 if they cannot be had. */
void granary_gc_own_stack(uintptr_t *low, uintptr_t *high, bool is_main);

/* ---- the core from outside ---- */
static inline void granary_gc_mark_inside(void)
{
    granary_gc_local.inside++;
    __asm__ volatile("" ::: "memory");
}
/* true: a stop was asked for meanwhile, and granary_gc_stop_here has to be called. */
static inline bool granary_gc_mark_outside(void)
{
    __asm__ volatile("" ::: "memory");
    uint32_t inside = --granary_gc_local.inside;
    __asm__ volatile("" ::: "memory"); /* a signal that comes from here on does not leave a note */
    return inside == 0 && granary_gc_local.pending != 0;
}
void granary_gc_activate(void);
/* While the process is copied nobody but the thread that forks goes into the core: see fork.c. */
extern _Atomic uint32_t granary_gc_fork_gate; /* 1: closed */
void granary_gc_wait_at_gate(void);
static inline void granary_gc_into_core(void)
{
    if (UNLIKELY(granary_gc_local.cache == 0))
        granary_gc_activate();
    granary_gc_mark_inside();
    if (UNLIKELY(atomic_load_explicit(&granary_gc_fork_gate, memory_order_relaxed) != 0))
        granary_gc_wait_at_gate();
}
void granary_gc_stop_here(void);
static inline void granary_gc_out_of_core(void)
{
    if (UNLIKELY(granary_gc_mark_outside()))
        granary_gc_stop_here();
}

/* ---- lock.c ---- */
/* Takes the collector's lock. false: the calling thread has it already. */
bool granary_gc_lock(void);
/* Gives it up; took is what granary_gc_lock returned. */
void granary_gc_unlock(bool took);
bool granary_gc_lock_is_mine(void);
/* Waits for the lock at most so long, and does not sleep again once marking was finished, if there were so many
 * markings. false: not taken. */
bool granary_gc_lock_unless_marked(uint32_t markings, uint64_t nanoseconds);
void granary_gc_lock_after_fork(void);

/* ---- stop.c: the world ---- */
/* Calls fn with all registers that a call preserves saved above sp. */
void *granary_gc_with_registers(void *(*fn)(void *, uintptr_t sp), void *argument);
/* Blocks the calling thread. false: it is not known, or blocked already, and must not be unblocked by the caller. */
bool granary_gc_block(uintptr_t sp);
void granary_gc_unblock(void);
/* Under the lock. false: a thread cannot be stopped, and the world goes on. */
bool granary_gc_stop_world(void);
void granary_gc_start_world(void); /* under the lock */
bool granary_gc_world_stands(void);
uint32_t granary_gc_stop_number(void); /* while the world stands; no two stops have the same */
/* Odd: the world is to stand, or stands. */
extern _Atomic uint32_t granary_gc_world;
/* Called outside of the core, where threads come by often. */
static inline void granary_gc_stop_if_asked(void)
{
    if (UNLIKELY((atomic_load_explicit(&granary_gc_world, memory_order_relaxed) & 1) != 0)
        && granary_gc_local.inside == 0)
        granary_gc_stop_here();
}
uintptr_t granary_gc_stopped_sp(const struct gc_thread *thread); /* while the world stands */
void granary_gc_stop_after_fork(void);

/* ---- signals.c ---- */
void granary_gc_signals_start(void);
bool granary_gc_send_stop(struct gc_thread *thread); /* false: there is no such thread */
bool granary_gc_thread_blocks_signal(const struct gc_thread *thread);
bool granary_gc_thread_is_deaf(const struct gc_thread *thread); /* no signal that we can send reaches it */
extern int granary_gc_signal; /* 0: the default one */
int granary_gc_default_signal(void);
void granary_gc_answer_signal(const ucontext_t *context, int tid); /* stop.c */

/* ---- restart.c ---- */
void granary_gc_restart_call(ucontext_t *context);

/* ---- maps.c ---- */
struct gc_mapping {
    uintptr_t low, high;
    bool readable, writable;
    bool is_private; /* pages that were never touched are zeros, or what a file has */
};
bool granary_gc_find_mapping(uintptr_t address, struct gc_mapping *found);
/* Marks what words in the pages of a range hold that were ever touched. */
void granary_gc_mark_touched(uintptr_t low, uintptr_t high);
/* Copies memory that may be gone. Returns how much of it could be read. */
size_t granary_gc_read_carefully(void *to, uintptr_t from, size_t bytes);

/* ---- stacks.c, tls.c, roots.c: called while the world stands ---- */
void granary_gc_mark_thread(struct gc_thread *thread, uintptr_t own_sp);
void granary_gc_mark_tls(const struct gc_thread *thread);
void granary_gc_mark_roots(void);
/* Takes down loaded objects and their thread-local variables. The loader's lock is held. */
void granary_gc_look_at_objects(unsigned long long changes);
void granary_gc_tls_forget(void);
void granary_gc_tls_add(size_t module, size_t bytes, const void *block);

void granary_gc_mark_left_behind(void); /* api_threads.c: results of threads that ended */

/* ---- helpers.c ---- */
void granary_gc_want_helpers(void);          /* after a collection, without the lock */
void granary_gc_call_helpers(void);          /* while the world stands, before marking */
void granary_gc_dismiss_helpers(void);       /* after it */
unsigned granary_gc_helper_count(void);
void granary_gc_helpers_after_fork(void);
unsigned granary_gc_processors(void);

/* ---- collect.c ---- */
struct gc_request {
    bool full;        /* asked for by the program, or nothing else helps */
    bool unmap;       /* give back all free memory */
    bool automatic;   /* for an allocation: one that another thread did meanwhile will do: ... */
    uint32_t before;  /* ... if there were so many when the core asked for it */
    bool slice;       /* one slice of marking will do, if there is a limit of time */
    GC_stop_func stop; /* may end it; NULL: nobody does */
};
bool granary_gc_is_open(void); /* a collection has begun and goes on in slices */
bool granary_gc_collect(const struct gc_request *request);
void granary_gc_mark_stacks(void); /* what GC_push_other_roots calls */
void granary_gc_mark_all_roots(void);
void granary_gc_run_finalizers_soon(void);
extern _Atomic uint32_t granary_gc_markings; /* how often marking was finished */
extern _Atomic uint64_t granary_gc_total_pause, granary_gc_longest_pause; /* nanoseconds */
extern uint64_t granary_gc_freed_before, granary_gc_reclaimed_before;       /* the last collection; bytes */

/* ---- api_alloc.c ---- */
void *granary_gc_allocate(size_t bytes, uint32_t kind, uint32_t flags);
size_t granary_gc_extra(void); /* bytes that are added to requests: 1 or 0 */

/* ---- api_config.c, api_kinds.c, roots.c ---- */
bool granary_gc_is_displacement(size_t offset);
bool granary_gc_mark_from_dead(void);
GC_describe_type_fn granary_gc_describer(uint32_t kind);
bool granary_gc_is_root(uintptr_t address);

/* ---- incremental.c, writes.c ---- */
void granary_gc_note_write(const void *address);
bool granary_gc_is_incremental(void);
bool granary_gc_has_time_limit(uint64_t *nanoseconds);
void granary_gc_plan_slices(void);
void granary_gc_slice_soon(size_t bytes);
bool granary_gc_writes_start(void);
void granary_gc_writes_end(const char *why);
const char *granary_gc_writes_name(void);
bool granary_gc_writes_take(void (*see)(uintptr_t page));
bool granary_gc_writes_take_some(uintptr_t *from, void (*see)(uintptr_t page), unsigned *pages);
bool granary_gc_protect(uint64_t deadline);
void granary_gc_rounds_start(bool partial);
bool granary_gc_rounds_know(void);
bool granary_gc_mark_some(uint64_t deadline);

/* ---- leaks.c ---- */
void granary_gc_leaks_add(void *object);
void granary_gc_leaks_remove(void *object);
void granary_gc_leaks_look(void); /* the world stands, marking is over */
void granary_gc_leaks_report(void);
/* api_debug.c: where an object with checks was allocated, "" for others. */
void granary_gc_debug_describe(const void *base, char *text, size_t room);

/* ---- fork.c ---- */
void granary_gc_fork_start(void);
/* Whether this process may collect: not in the child of a vfork, whose threads are its parent's. */
bool granary_gc_is_own_process(void);
pid_t granary_gc_process(void);

/* ---- support.c ---- */
void granary_gc_warn(const char *format, GC_word argument);
void granary_gc_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void granary_gc_abort(const char *message);
void *granary_gc_pages(size_t bytes); /* zeroed, NULL if there is none */
/* Makes room for count + 1 elements; false: no memory. */
bool granary_gc_room(void **array, size_t *capacity, size_t count, size_t element_bytes);
/* nanoseconds 0: for ever. Returns 0, or why it ended otherwise: ETIMEDOUT, EAGAIN, EINTR. */
int granary_gc_futex_wait(void *word, uint32_t value, uint64_t nanoseconds);
void granary_gc_futex_wake(void *word, int count);
/* Waits, with the processor, until a word has another value, as long as is better than sleeping. false: it has not. */
bool granary_gc_spin_while(_Atomic uint32_t *word, uint32_t value);
void granary_gc_spin_start(void);
void granary_gc_spin_after_fork(void);
uint64_t granary_sys_now(void);
void granary_sys_cpu_relax(void);
uint32_t granary_sys_cpus(void);

/* clib/glue/message.c */
void granary_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void granary_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
