/* Stopping the world and letting it go on.
 *
 * granary_gc_world counts stops and starts: odd while a collection wants the world to stand. The path of one stop:
 *
 *   1. It becomes odd. Blocked threads are held (BLOCKED -> HELD), all others are asked.
 *   2. A thread that allocates comes by soon, as the slow path looks at granary_gc_world: it leaves its registers and
 *      its stack pointer in its record, answers, and waits until granary_gc_world changes. One that becomes blocked
 *      holds itself.
 *   3. The others get the signal, whose handler does the same; who came by at the last stop gets it only if he does not
 *      now. A thread that is in the core takes note of the signal, and stops as it leaves the core.
 *   4. The collector waits until all have answered, and looks after those that do not. A thread that blocks all signals
 *      may wait for something that a stopped thread has: then all go on for a while, and the stop begins anew. If it
 *      still blocks them after some attempts, there is no stop, and no collection, until it does not.
 *   5. It becomes even again, which lets all waiters go.
 *
 * Meanwhile the collecting thread takes no signal of the program's, whose handler might wait for a stopped thread.
 *
 * A collection of a small heap takes as long as it takes to put a thread to sleep and to wake it. So all who wait keep
 * their processor for a while, if there is one for the thread that they wait for.
 */
#include "collector.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUND_NANOSECONDS = 1000000, ROUNDS_BEFORE_LOOK = 2, ROUNDS_BEFORE_RESEND = 100 };
enum { ROUNDS_LEAST = 8, ROUNDS_MOST = 1024 }; /* before a stop begins anew: each time twice as many */
enum { ROUNDS_IN_VAIN = 512 };                  /* so many for a thread that blocks all signals, and then no more */
#define RED_ZONE_BYTES 128 /* below the stack pointer leaf functions keep values */

_Atomic uint32_t granary_gc_world;
static _Atomic uint32_t missing;         /* answers */
static _Atomic uint32_t collector_sleeps; /* until missing is 0 */
static _Atomic uint32_t sleepers;        /* threads that sleep until granary_gc_world changes */

static bool takes_no_signals; /* the collecting thread; under the collector's lock, as is its mask before: */
static sigset_t mask_before;

void *__attribute__((noinline, noclone)) granary_gc_with_registers(void *(*fn)(void *, uintptr_t), void *argument)
{
    uintptr_t sp;
    __builtin_unwind_init(); /* all registers that a call preserves are on the stack now */
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#else
#error "granary: this machine's stack pointer is not known; add it to clib/gc/stop.c"
#endif
    void *result = fn(argument, sp);
    __asm__ volatile("" ::: "memory"); /* no tail call: the registers must stay where they are */
    return result;
}

static uintptr_t interrupted_sp(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP] - RED_ZONE_BYTES;
#else
    return (uintptr_t)context->uc_mcontext.sp;
#endif
}

/* Whoever is the first to answer for a thread, the thread itself or another one. Who comes late, when a later stop has
 * begun, is not. */
static bool is_first_answer(struct gc_thread *thread, uint32_t stop)
{
    return atomic_compare_exchange_strong(&thread->asked, &stop, stop + 1);
}

static void count_answer(void)
{
    if (atomic_fetch_sub(&missing, 1) == 1 && atomic_load(&collector_sleeps) != 0)
        granary_gc_futex_wake(&missing, 1);
}

static bool has_to_answer(const struct gc_thread *thread, uint32_t stop)
{
    return (stop & 1) != 0 && atomic_load(&thread->asked) == stop;
}

/* A thread becomes blocked that was asked to stop: it is held. The thread looks whether it is asked once it is blocked,
 * and the collector whether it is blocked once it has asked. */
static void answer_blocked(struct gc_thread *self)
{
    uint32_t stop = atomic_load(&granary_gc_world), blocked = GC_THREAD_BLOCKED;
    if (!has_to_answer(self, stop) || !is_first_answer(self, stop))
        return;
    atomic_compare_exchange_strong(&self->state, &blocked, GC_THREAD_HELD);
    count_answer();
}

bool granary_gc_block(uintptr_t sp)
{
    struct gc_thread *self = granary_gc_local.self;
    if (self == NULL || atomic_load_explicit(&self->state, memory_order_relaxed) != GC_THREAD_RUNNING)
        return false;
    granary_gc_local.fast = granary_gc_local.cache = 0;
    self->blocked_sp = sp;
    atomic_store(&self->state, GC_THREAD_BLOCKED);
    answer_blocked(self);
    return true;
}

void granary_gc_unblock(void)
{
    struct gc_thread *self = granary_gc_local.self;
    if (self == NULL)
        return;
    for (;;) {
        uint32_t expected = GC_THREAD_BLOCKED;
        if (atomic_compare_exchange_strong(&self->state, &expected, GC_THREAD_RUNNING))
            break;
        if (expected == GC_THREAD_HELD && granary_gc_spin_while(&self->state, GC_THREAD_HELD))
            continue;
        if (expected == GC_THREAD_AWAITED
            || atomic_compare_exchange_strong(&self->state, &expected, GC_THREAD_AWAITED))
            granary_gc_futex_wait(&self->state, GC_THREAD_AWAITED, 0);
    }
    granary_gc_local.cache = self->cache;
    granary_gc_local.fast = GC_find_leak != 0 ? 0 : self->cache;
}

/* A thread that has said that it is blocked calls all the same: until it leaves the core it is not. */
void granary_gc_activate(void)
{
    struct gc_local *local = &granary_gc_local;
    struct gc_thread *self = local->self;
    if (self == NULL || local->inside != 0 || atomic_load(&self->state) == GC_THREAD_RUNNING)
        return;
    local->again_sp = self->blocked_sp;
    granary_gc_unblock();
    local->pending |= GC_PENDING_BLOCK;
}

static void answer_and_wait(struct gc_thread *self, uint32_t stop, uintptr_t sp, const ucontext_t *context)
{
    if (!is_first_answer(self, stop))
        return; /* a handler that interrupted us here did, one that we interrupt is at it, or the stop was given up */
    self->stopped_sp = sp;
    self->context = context;
    self->comes_by = context == NULL;
    count_answer();
    granary_gc_spin_while(&granary_gc_world, stop);
    while (atomic_load(&granary_gc_world) == stop) {
        atomic_fetch_add(&sleepers, 1);
        granary_gc_futex_wait(&granary_gc_world, stop, 0);
        atomic_fetch_sub(&sleepers, 1);
    }
    self->context = NULL;
}

/* GC_suspend_thread: the thread counts as blocked until GC_resume_thread. */
static void wait_suspended(struct gc_thread *self, uintptr_t sp, const ucontext_t *context)
{
    uint32_t asked = 1;
    if (!atomic_compare_exchange_strong(&self->suspended, &asked, 2))
        return;
    bool running = atomic_load(&self->state) == GC_THREAD_RUNNING;
    if (running) {
        self->context = context;
        granary_gc_block(sp);
    }
    while (atomic_load(&self->suspended) == 2)
        granary_gc_futex_wait(&self->suspended, 2, 0);
    if (running) {
        granary_gc_unblock();
        self->context = NULL;
    }
}

static void *stop_here(void *unused, uintptr_t sp)
{
    (void)unused;
    bool again = (granary_gc_local.pending & GC_PENDING_BLOCK) != 0;
    granary_gc_local.pending = 0;
    struct gc_thread *self = granary_gc_local.self;
    uint32_t stop = atomic_load(&granary_gc_world);
    if (self == NULL)
        return NULL;
    if (has_to_answer(self, stop))
        answer_and_wait(self, stop, sp, NULL);
    wait_suspended(self, sp, NULL);
    if (again)
        granary_gc_block(granary_gc_local.again_sp);
    return NULL;
}

/* The thread is outside of the core, and is asked to stop, or was while it was inside. */
void __attribute__((noinline)) granary_gc_stop_here(void) { granary_gc_with_registers(stop_here, NULL); }

/* The collector answers in a thread's place. */
static void answer_for(struct gc_thread *thread, uint32_t stop, bool is_dead)
{
    if (!is_first_answer(thread, stop))
        return;
    if (is_dead)
        thread->tid = 0; /* let_world_go drops it */
    count_answer();
}

/* A thread with the id of one that died without a word: the dead one's record answers. */
static void answer_for_the_dead(int tid)
{
    uint32_t stop = atomic_load(&granary_gc_world);
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next)
        if (thread->tid == tid && has_to_answer(thread, stop))
            answer_for(thread, stop, true);
}

/* In the signal's handler. */
void granary_gc_answer_signal(const ucontext_t *context, int tid)
{
    struct gc_thread *self = granary_gc_local.self;
    uint32_t stop = atomic_load(&granary_gc_world);
    if (self == NULL) {
        if ((stop & 1) != 0)
            answer_for_the_dead(tid);
        return;
    }
    if (granary_gc_local.inside != 0) {
        granary_gc_local.pending |= GC_PENDING_STOP;
        return;
    }
    if (has_to_answer(self, stop))
        answer_and_wait(self, stop, interrupted_sp(context), context);
    wait_suspended(self, interrupted_sp(context), context);
}

/* Threads that do not answer: dead ones, and those that the signal does not reach. */
static void look_after(uint32_t stop, unsigned round)
{
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next) {
        if (!has_to_answer(thread, stop))
            continue;
        if (round < ROUNDS_BEFORE_LOOK)
            continue;
        bool again = round % ROUNDS_BEFORE_RESEND == 0;
        if (again)
            granary_gc_signals_start(); /* the program may have taken our signal since the stop began */
        if (!thread->blocks_signal && granary_gc_thread_blocks_signal(thread))
            thread->blocks_signal = again = true;
        bool there = again ? granary_gc_send_stop(thread)
                           : syscall(SYS_tgkill, granary_gc_process(), thread->tid, 0) == 0 || errno != ESRCH;
        if (!there)
            answer_for(thread, stop, true);
    }
}

/* Waits a moment; false: some are missing still. */
static bool spin_for_answers(void)
{
    for (uint32_t left; (left = atomic_load(&missing)) != 0;)
        if (!granary_gc_spin_while(&missing, left))
            return false;
    return true;
}

/* Waits for answers; false: there were so many rounds, and some are missing still. */
static bool wait_for_answers(uint32_t stop, unsigned rounds)
{
    if (spin_for_answers())
        return true;
    int saved = errno;
    uint32_t left;
    atomic_store(&collector_sleeps, 1);
    for (unsigned round = 0; (left = atomic_load(&missing)) != 0 && round < rounds;)
        if (granary_gc_futex_wait(&missing, left, ROUND_NANOSECONDS) == ETIMEDOUT)
            look_after(stop, ++round);
    atomic_store(&collector_sleeps, 0);
    errno = saved;
    return left == 0;
}

static void ask(struct gc_thread *thread, uint32_t stop)
{
    uint32_t blocked = GC_THREAD_BLOCKED;
    if (thread == granary_gc_local.self)
        return;
    atomic_fetch_add(&missing, 1);
    atomic_store(&thread->asked, stop);
    if (atomic_compare_exchange_strong(&thread->state, &blocked, GC_THREAD_HELD))
        answer_for(thread, stop, false);
    else if (thread->tid == 0)
        answer_for(thread, stop, true);
}

/* Sends the signal to those who have not answered: who came by the last time, or the others. */
static void signal_threads(uint32_t stop, bool who_come_by)
{
    bool ready = false;
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next) {
        if (thread->comes_by != who_come_by || !has_to_answer(thread, stop))
            continue;
        if (!ready)
            granary_gc_signals_start();
        ready = true;
        if (!granary_gc_send_stop(thread))
            answer_for(thread, stop, true);
    }
}

/* One attempt. */
static bool ask_all(uint32_t stop, unsigned rounds)
{
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next)
        ask(thread, stop);
    if (atomic_load(&missing) == 0)
        return true;
    signal_threads(stop, false);
    if (spin_for_answers())
        return true;
    signal_threads(stop, true);
    return wait_for_answers(stop, rounds);
}

static void let_world_go(void)
{
    atomic_fetch_add(&granary_gc_world, 1);
    struct gc_thread *next;
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = next) {
        next = thread->next;
        uint32_t state = GC_THREAD_HELD;
        if (atomic_compare_exchange_strong(&thread->state, &state, GC_THREAD_BLOCKED))
            continue;
        if (state == GC_THREAD_AWAITED) {
            atomic_store(&thread->state, GC_THREAD_BLOCKED);
            granary_gc_futex_wake(&thread->state, 1);
        } else if (thread->tid == 0) {
            granary_gc_forget(thread);
        }
    }
    if (atomic_load(&sleepers) != 0)
        granary_gc_futex_wake(&granary_gc_world, INT32_MAX);
}

/* A running thread for which a stop was given up, and which is still deaf; NULL: there is none. */
static struct gc_thread *unreachable_thread(void)
{
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next) {
        if (!thread->unreachable || atomic_load(&thread->state) != GC_THREAD_RUNNING)
            continue;
        thread->unreachable = granary_gc_thread_is_deaf(thread);
        if (thread->unreachable)
            return thread;
    }
    return NULL;
}

/* Answers for those that have not answered, whose signal then finds nothing to do, and lets all go. for_good: they will
 * not be asked again while they block all signals. */
static void give_up(uint32_t stop, bool for_good)
{
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next)
        if (has_to_answer(thread, stop)) {
            thread->unreachable = for_good && granary_gc_thread_is_deaf(thread);
            answer_for(thread, stop, false);
        }
    uint32_t left;
    while ((left = atomic_load(&missing)) != 0) /* they are about to answer */
        granary_gc_futex_wait(&missing, left, ROUND_NANOSECONDS);
    let_world_go();
}

static bool tell_unreachable(void)
{
    static bool told;
    struct gc_thread *thread = unreachable_thread();
    if (thread != NULL && !told) {
        told = true;
        granary_message("granary: thread %d cannot be stopped, as it blocks all signals, or the user's queue of "
                        "signals is full (ulimit -i): the heap grows without collections meanwhile\n",
                        (int)thread->tid);
    }
    return thread != NULL;
}

/* A stop that was given up is made again when the threads have had as much time as it took. */
static bool stop_others(void)
{
    if (unreachable_thread() != NULL)
        return false;
    for (unsigned rounds = ROUNDS_LEAST;; rounds = rounds < ROUNDS_MOST ? rounds * 2 : rounds) {
        uint32_t stop = atomic_fetch_add(&granary_gc_world, 1) + 1;
        if (ask_all(stop, rounds))
            return true;
        give_up(stop, rounds >= ROUNDS_IN_VAIN);
        if (tell_unreachable())
            return false;
        uint32_t nobody = 0;
        granary_gc_futex_wait(&nobody, nobody, (uint64_t)rounds * ROUND_NANOSECONDS);
    }
}

/* Handlers of faults stay: the kernel ends a process that blocks them. */
static void take_no_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t most;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&most, faults[i]);
    takes_no_signals = pthread_sigmask(SIG_BLOCK, &most, &mask_before) == 0;
}

static void take_signals(void)
{
    if (takes_no_signals)
        pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    takes_no_signals = false;
}

bool granary_gc_stop_world(void)
{
    take_no_signals();
    bool stands = true;
    if (atomic_load(&granary_gc_thread_count) > 1 || granary_gc_local.self == NULL)
        stands = stop_others();
    else
        atomic_fetch_add(&granary_gc_world, 1);
    if (!stands)
        take_signals();
    return stands;
}

void granary_gc_start_world(void)
{
    let_world_go();
    take_signals();
}

bool granary_gc_world_stands(void) { return (atomic_load(&granary_gc_world) & 1) != 0; }
uint32_t granary_gc_stop_number(void) { return atomic_load(&granary_gc_world); }

uintptr_t granary_gc_stopped_sp(const struct gc_thread *thread)
{
    uint32_t state = atomic_load(&thread->state);
    return state == GC_THREAD_HELD || state == GC_THREAD_AWAITED ? thread->blocked_sp : thread->stopped_sp;
}

/* In the child: the stop of the fork ends here, and nobody is there who waits. */
void granary_gc_stop_after_fork(void)
{
    atomic_store(&missing, 0);
    atomic_store(&sleepers, 0);
    granary_gc_spin_after_fork();
    if (granary_gc_world_stands())
        atomic_fetch_add(&granary_gc_world, 1);
    take_signals();
}
