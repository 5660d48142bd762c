/* once.h: the beginning of a library, which any first call may find itself in: from a constructor, from malloc, or from
 * several threads at once. What is called meanwhile may come back before it is done. */
#ifndef GRANARY_GLUE_ONCE_H
#define GRANARY_GLUE_ONCE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint32_t granary_sys_thread_id(void);

struct granary_once {
    atomic_int state; /* 0 before, 1 while one thread is at it, 2 done */
    _Atomic uint32_t starter;
};

/* Returns true to the one thread that is to do it and call granary_once_done. Others wait for that; the thread itself,
 * when it comes again, does not. */
static inline bool granary_once_begin(struct granary_once *once)
{
    int before = 0;
    if (atomic_compare_exchange_strong(&once->state, &before, 1)) {
        atomic_store(&once->starter, granary_sys_thread_id());
        return true;
    }
    while (before == 1 && atomic_load(&once->starter) != granary_sys_thread_id()) {
        sched_yield();
        before = atomic_load(&once->state);
    }
    return false;
}

static inline void granary_once_done(struct granary_once *once) { atomic_store(&once->state, 2); }

#endif
