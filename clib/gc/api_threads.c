/* Threads, as the program sees them. */
#include "collector.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void GC_allow_register_threads(void) { granary_gc_enter(); }

/* ---- stacks ---- */

int GC_get_stack_base(struct GC_stack_base *base)
{
    granary_gc_enter();
    struct gc_thread *self = granary_gc_local.self;
    if (self == NULL || self->stack_high == 0)
        return GC_UNIMPLEMENTED;
    base->mem_base = (void *)self->stack_high;
    return GC_SUCCESS;
}

/* The base that the program names serves where the thread's own stack is not known. */
int GC_register_my_thread(const struct GC_stack_base *base)
{
    granary_gc_enter();
    struct gc_thread *self = granary_gc_local.self;
    if (self == NULL)
        return GC_UNIMPLEMENTED;
    bool took = granary_gc_lock();
    bool again = self->by_call || self->is_main;
    self->by_call = true;
    if (self->stack_high == 0 && base->mem_base != NULL) {
        self->stack_low = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(GC_BLOCK_BYTES - 1);
        self->stack_high = (uintptr_t)base->mem_base;
    }
    granary_gc_unlock(took);
    return again ? GC_DUPLICATE : GC_SUCCESS;
}

/* The thread is known again at its next call. */
int GC_unregister_my_thread(void)
{
    if (granary_gc_local.self != NULL && !granary_gc_local.self->is_main)
        granary_gc_leave();
    return GC_SUCCESS;
}

int GC_thread_is_registered(void) { return granary_gc_local.self != NULL; }

/* The handle that goes with it is the thread's record. */
void *GC_get_my_stackbottom(struct GC_stack_base *base)
{
    granary_gc_enter();
    struct gc_thread *self = granary_gc_local.self;
    base->mem_base = self == NULL ? NULL : (void *)self->stack_high;
    if (self != NULL && self->fiber_bottom != 0)
        base->mem_base = (void *)self->fiber_bottom;
    return self;
}

/* For programs with fibers: the stack that the thread runs on from now on ends there. */
void GC_set_stackbottom(void *handle, const struct GC_stack_base *base)
{
    granary_gc_enter();
    struct gc_thread *thread = handle != NULL ? handle : granary_gc_local.self;
    uintptr_t bottom = (uintptr_t)base->mem_base;
    if (thread != NULL)
        thread->fiber_bottom = bottom == thread->stack_high ? 0 : bottom;
}

void GC_register_altstack(void *stack, GC_word stack_bytes, void *alternate, GC_word alternate_bytes)
{
    (void)stack; /* that is known */
    (void)stack_bytes;
    granary_gc_enter();
    struct gc_thread *self = granary_gc_local.self;
    bool took = granary_gc_lock();
    if (self != NULL) {
        self->alternate_low = (uintptr_t)alternate;
        self->alternate_high = (uintptr_t)alternate + alternate_bytes;
    }
    granary_gc_unlock(took);
}

void *GC_call_with_stack_base(GC_stack_base_func fn, void *argument)
{
    struct GC_stack_base base = {__builtin_frame_address(0)};
    void *result = fn(&base, argument);
    __asm__ volatile("" ::"r"(&base) : "memory"); /* no tail call: the base is this frame */
    return result;
}

/* ---- blocked regions ---- */

struct region {
    GC_fn_type fn;
    void *data;
    void *result;
};

static void *run_blocked(void *argument, uintptr_t sp)
{
    struct region *region = argument;
    bool blocked = granary_gc_block(sp);
    region->result = region->fn(region->data);
    if (blocked)
        granary_gc_unblock();
    return NULL;
}

/* fn touches no object; its thread is not stopped meanwhile. */
void *GC_do_blocking(GC_fn_type fn, void *data)
{
    granary_gc_enter();
    struct gc_thread *self = granary_gc_local.self;
    if (self == NULL || atomic_load(&self->state) != GC_THREAD_RUNNING)
        return fn(data);
    struct region region = {fn, data, NULL};
    granary_gc_with_registers(run_blocked, &region);
    return region.result;
}

/* The inverse, inside of it. What the stack below holds is scanned as well: it is one stack. */
void *GC_call_with_gc_active(GC_fn_type fn, void *data)
{
    granary_gc_enter();
    struct gc_thread *self = granary_gc_local.self;
    if (self == NULL || atomic_load(&self->state) == GC_THREAD_RUNNING)
        return fn(data);
    uintptr_t sp = self->blocked_sp;
    granary_gc_unblock();
    void *result = fn(data);
    granary_gc_block(sp);
    return result;
}

/* ---- the functions that programs call in place of the system's ---- */

struct start {
    void *(*fn)(void *);
    void *argument;
    _Atomic uint32_t taken;
};

/* What threads have left that ended and nobody has joined yet: roots, until GC_pthread_join or GC_pthread_detach. */
struct left {
    pthread_t handle;
    void *value;
};

static struct {
    struct left *list;
    size_t count, room;
} left_behind;

void granary_gc_mark_left_behind(void)
{
    for (size_t i = 0; i < left_behind.count; i++)
        core_gc_mark_address((uintptr_t)left_behind.list[i].value);
}

static void *leave_behind(void *value)
{
    pthread_attr_t attributes;
    int detached = PTHREAD_CREATE_DETACHED;
    if (value == NULL || pthread_getattr_np(pthread_self(), &attributes) != 0)
        return value;
    pthread_attr_getdetachstate(&attributes, &detached);
    pthread_attr_destroy(&attributes);
    bool took = granary_gc_lock();
    if (detached == PTHREAD_CREATE_JOINABLE
        && granary_gc_room((void **)&left_behind.list, &left_behind.room, left_behind.count, sizeof(struct left)))
        left_behind.list[left_behind.count++] = (struct left){pthread_self(), value};
    granary_gc_unlock(took);
    return value;
}

static void take_up(pthread_t handle)
{
    bool took = granary_gc_lock();
    for (size_t i = left_behind.count; i > 0; i--)
        if (pthread_equal(left_behind.list[i - 1].handle, handle))
            left_behind.list[i - 1] = left_behind.list[--left_behind.count];
    granary_gc_unlock(took);
}

static void *run_thread(void *argument)
{
    struct start *start = argument;
    granary_gc_enter();
    void *(*fn)(void *) = start->fn;
    void *own = start->argument;
    if (granary_gc_local.self != NULL)
        granary_gc_local.self->by_call = true;
    atomic_store(&start->taken, 1);
    granary_gc_futex_wake(&start->taken, 1); /* nobody but the futex knows that address now */
    return leave_behind(fn(own));
}

/* The new thread is known before this returns: nobody else may hold what its argument leads to. */
static void *wait_until_taken(void *argument, uintptr_t sp)
{
    struct start *start = argument;
    bool blocked = granary_gc_block(sp);
    while (atomic_load(&start->taken) == 0)
        granary_gc_futex_wait(&start->taken, 0, 0);
    if (blocked)
        granary_gc_unblock();
    return NULL;
}

int GC_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *argument)
{
    granary_gc_enter();
    struct start start = {fn, argument, 0};
    int result = pthread_create(thread, attributes, run_thread, &start);
    if (result == 0)
        granary_gc_with_registers(wait_until_taken, &start);
    return result;
}

struct join {
    pthread_t thread;
    void **value;
    int result;
};

static void *join_blocked(void *argument)
{
    struct join *join = argument;
    join->result = pthread_join(join->thread, join->value);
    return NULL;
}

int GC_pthread_join(pthread_t thread, void **value)
{
    void *left = NULL;
    struct join join = {thread, &left, 0};
    GC_do_blocking(join_blocked, &join);
    if (join.result == 0 && value != NULL)
        *value = left;
    if (join.result == 0)
        take_up(thread);
    return join.result;
}

int GC_pthread_detach(pthread_t thread)
{
    int result = pthread_detach(thread);
    if (result == 0)
        take_up(thread);
    return result;
}

int GC_pthread_cancel(pthread_t thread) { return pthread_cancel(thread); }
_Noreturn void GC_pthread_exit(void *value) { pthread_exit(leave_behind(value)); }

int GC_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    if (set == NULL || (how != SIG_BLOCK && how != SIG_SETMASK))
        return pthread_sigmask(how, set, before);
    sigset_t without = *set;
    sigdelset(&without, GC_get_suspend_signal());
    return pthread_sigmask(how, &without, before);
}

/* A jump: the loader looks at its caller for $ORIGIN and RUNPATH. */
__attribute__((optimize("O2", "optimize-sibling-calls"))) void *GC_dlopen(const char *file, int flags)
{
    return dlopen(file, flags);
}

/* ---- one thread suspended by another ---- */

static struct gc_thread *find(pthread_t handle)
{
    struct gc_thread *thread = granary_gc_threads;
    while (thread != NULL && !pthread_equal(thread->handle, handle))
        thread = thread->next;
    return thread;
}

void GC_suspend_thread(pthread_t handle)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    struct gc_thread *thread = find(handle);
    uint32_t not_suspended = 0;
    if (thread != NULL && atomic_compare_exchange_strong(&thread->suspended, &not_suspended, 1)) {
        granary_gc_signals_start();
        if (thread == granary_gc_local.self)
            granary_gc_unlock(took); /* nobody could resume it */
        granary_gc_send_stop(thread);
        if (thread == granary_gc_local.self)
            return;
        while (atomic_load(&thread->suspended) == 1 && syscall(SYS_tgkill, granary_gc_process(), thread->tid, 0) == 0)
            if (granary_gc_futex_wait(&thread->suspended, 1, 1000000) != 0 && !thread->blocks_signal
                && granary_gc_thread_blocks_signal(thread)) {
                thread->blocks_signal = true; /* it was sent one that does not reach it */
                granary_gc_send_stop(thread);
            }
    }
    granary_gc_unlock(took);
}

void GC_resume_thread(pthread_t handle)
{
    bool took = granary_gc_lock();
    struct gc_thread *thread = find(handle);
    if (thread != NULL && atomic_exchange(&thread->suspended, 0) == 2)
        granary_gc_futex_wake(&thread->suspended, 1);
    granary_gc_unlock(took);
}

int GC_is_thread_suspended(pthread_t handle)
{
    bool took = granary_gc_lock();
    struct gc_thread *thread = find(handle);
    int suspended = thread != NULL && atomic_load(&thread->suspended) != 0;
    granary_gc_unlock(took);
    return suspended;
}

/* ---- signals ---- */

void GC_set_suspend_signal(int number)
{
    if (!atomic_load(&granary_gc_started) && number > 0 && number < _NSIG)
        granary_gc_signal = number;
}

int GC_get_suspend_signal(void) { return granary_gc_signal != 0 ? granary_gc_signal : granary_gc_default_signal(); }

/* There is none: waiters are woken without a signal. Programs that keep away from it keep away from ours. */
void GC_set_thr_restart_signal(int number) { (void)number; }
int GC_get_thr_restart_signal(void) { return GC_get_suspend_signal(); }
