/* The collector's lock. Its holder is known, so that a callback that runs under it may call functions that take it. */
#include "collector.h"

static _Atomic uint32_t word; /* 0 free, 1 taken, 2 taken and somebody may wait */
static _Atomic uint32_t owner;

bool granary_gc_lock_is_mine(void)
{
    return atomic_load_explicit(&owner, memory_order_relaxed) == granary_sys_thread_id();
}

static bool try_lock(void)
{
    uint32_t none = 0;
    return atomic_compare_exchange_strong_explicit(&word, &none, 1, memory_order_acquire, memory_order_relaxed);
}

/* Who takes it here leaves a mark for others who may sleep. */
static bool take_or_announce(void) { return atomic_exchange_explicit(&word, 2, memory_order_acquire) == 0; }

/* Until the lock is taken the thread counts as blocked: a collection does not wait for it. */
static void *wait_for_lock(void *unused, uintptr_t sp)
{
    bool blocked = granary_gc_block(sp);
    granary_gc_spin_while(&word, 1);
    while (!take_or_announce())
        granary_gc_futex_wait(&word, 2, 0);
    if (blocked)
        granary_gc_unblock();
    return unused;
}

struct limits {
    uint32_t markings;
    uint64_t end;
};

static void *wait_unless_marked(void *argument, uintptr_t sp)
{
    const struct limits *limits = argument;
    bool blocked = granary_gc_block(sp), took = false, slept = false;
    granary_gc_spin_while(&word, 1); /* a collection of a small heap is over soon */
    while (granary_gc_markings == limits->markings) {
        took = take_or_announce();
        uint64_t now = granary_sys_now();
        if (took || now >= limits->end)
            break;
        granary_gc_futex_wait(&word, 2, limits->end - now);
        slept = true;
    }
    if (slept && !took)
        granary_gc_futex_wake(&word, 1); /* another one's turn, which came to us */
    if (blocked)
        granary_gc_unblock();
    return took ? argument : NULL;
}

bool granary_gc_lock(void)
{
    if (granary_gc_lock_is_mine())
        return false;
    if (UNLIKELY(!try_lock()))
        granary_gc_with_registers(wait_for_lock, NULL);
    atomic_store_explicit(&owner, granary_sys_thread_id(), memory_order_relaxed);
    return true;
}

bool granary_gc_lock_unless_marked(uint32_t markings, uint64_t nanoseconds)
{
    if (granary_gc_lock_is_mine())
        return false;
    struct limits limits = {markings, granary_sys_now() + nanoseconds};
    if (!try_lock() && granary_gc_with_registers(wait_unless_marked, &limits) == NULL)
        return false;
    atomic_store_explicit(&owner, granary_sys_thread_id(), memory_order_relaxed);
    return true;
}

void granary_gc_unlock(bool took)
{
    if (!took)
        return;
    atomic_store_explicit(&owner, 0, memory_order_relaxed);
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2)
        granary_gc_futex_wake(&word, 1);
}

/* Who forked holds the lock; nobody waits for it in the child. */
void granary_gc_lock_after_fork(void)
{
    if (atomic_load(&word) != 0)
        atomic_store(&word, 1);
}
