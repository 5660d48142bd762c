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

/* Until the lock is taken the thread counts as blocked: a collection does not wait for it. */
static void *wait_for_lock(void *limit, uintptr_t sp)
{
    uint64_t nanoseconds = *(uint64_t *)limit;
    uint64_t end = nanoseconds == 0 ? 0 : granary_sys_now() + nanoseconds;
    bool took = true;
    bool blocked = granary_gc_block(sp);
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0) {
        uint64_t now = end == 0 ? 0 : granary_sys_now();
        if (end != 0 && now >= end) {
            took = false;
            break;
        }
        granary_gc_futex_wait(&word, 2, end == 0 ? 0 : end - now);
    }
    if (blocked)
        granary_gc_unblock();
    return took ? limit : NULL;
}

bool granary_gc_lock(void)
{
    if (granary_gc_lock_is_mine())
        return false;
    if (UNLIKELY(!try_lock())) {
        uint64_t for_ever = 0;
        granary_gc_with_registers(wait_for_lock, &for_ever);
    }
    atomic_store_explicit(&owner, granary_sys_thread_id(), memory_order_relaxed);
    return true;
}

bool granary_gc_lock_within(uint64_t nanoseconds)
{
    if (granary_gc_lock_is_mine())
        return false;
    if (!try_lock() && granary_gc_with_registers(wait_for_lock, &nanoseconds) == NULL)
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
